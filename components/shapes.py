"""Names of tensor shapes, so that a signature says what a comment would.

B batch   T tokens (queries)   S tokens (keys)   H heads   D model width   K head width   V vocabulary
W the width of any vector   ... any leading axes

The contracts (`components/contract.py`) read these annotations: they are checked, not decoration.
"""

from typing import Annotated

from torch import Tensor

Tokens = Annotated[Tensor, "B T"]
Hidden = Annotated[Tensor, "B T D"]
Heads = Annotated[Tensor, "B H T K"]
Weights = Annotated[Tensor, "B H T S"]
Bias = Annotated[Tensor, "1 H T S"]
Vector = Annotated[Tensor, "... W"]
Logits = Annotated[Tensor, "B T V"]
Losses = Annotated[Tensor, "B T"]
