"""Errors a user can act on: each names the file, key, ticker or row, and the remedy."""


class CandlecastError(Exception):
    """Base of every error that is the input's fault, not the program's."""


class ParamsError(CandlecastError, ValueError):
    """A key of the parameters is missing, unknown, of the wrong type, or contradicts another."""


class DataError(CandlecastError, ValueError):
    """Market data cannot be read, fetched or trusted."""


class UnknownTickerError(DataError):
    """The source answered, and has no such ticker or no bars of it between the dates asked for."""


class NoBarsError(UnknownTickerError):
    """The source has bars of the ticker, all of them outside the dates asked for."""


class UnreachableError(DataError):
    """The source gave no answer that can be used: whether it has the ticker is not known."""


class SplitError(CandlecastError, ValueError):
    """The dates leave no room for a training, validation or test span."""


class TrainingError(CandlecastError, RuntimeError):
    """Training cannot go on: a loss is not finite, or memory does not carry one window."""


class EvaluationError(CandlecastError, ValueError):
    """Forecasts cannot be scored: one is missing or not finite, or a score is undefined for them."""


class TrackingError(CandlecastError, RuntimeError):
    """The tracking store cannot be opened, read or served."""


class StudyError(CandlecastError, RuntimeError):
    """A study cannot go on: cells failed, an optimum lies at the grid's edge, DVC refuses, or no arm wins."""
