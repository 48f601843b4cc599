"""What is raised where a part breaks its contract."""


class BrokenContract(AssertionError):
    """What a part promised and did not keep, in one sentence."""
