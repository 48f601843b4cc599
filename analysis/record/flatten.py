"""A configuration as flat columns."""

from analysis.record.plain import JsonValue, Settings


def flatten(config: Settings, prefix: str = "") -> dict[str, JsonValue]:
    """A configuration as flat columns; the name of a part is the value of its kind.

    >>> flatten({"norm": {"name": "rmsnorm", "eps": 1e-5}, "batch_size": 16})
    {'norm': 'rmsnorm', 'norm.eps': 1e-05, 'batch_size': 16}
    """
    flat: dict[str, JsonValue] = {}
    for key, value in config.items():
        path = prefix if key == "name" and prefix else f"{prefix}.{key}".lstrip(".")
        if isinstance(value, dict):
            flat |= flatten(value, path)
        else:
            flat[path] = value
    return flat
