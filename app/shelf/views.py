"""What a tab has worked out of a model and keeps for the next visitor, without keeping the model."""

import weakref

from tipshare.model.language_model import LanguageModel


class ViewsOfModel:
    """Arrays of one model, which stays in memory only as long as the shelf or a request has it."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = weakref.ref(model)

    @property
    def model(self) -> LanguageModel:
        """The model; ValueError once it was dropped."""
        model = self._model()
        if model is None:
            raise ValueError("this model was dropped to make room for others: load it again")
        return model

    def is_of(self, model: LanguageModel) -> bool:
        """Whether these are of that very model, not of an earlier one of the same name."""
        return self._model() is model
