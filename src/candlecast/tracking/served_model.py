"""The model as MLflow serves it: a table of raw daily bars in, a forecast a ticker out.

MLflow keeps this file itself with the model and runs it to load the model, so that nothing is pickled. It
answers a table it cannot use with status 400 and the reason.
"""

from typing import Any

import pandas as pd
from mlflow.exceptions import MlflowException
from mlflow.models import set_model
from mlflow.pyfunc.model import PythonModel, PythonModelContext

from candlecast.errors import CandlecastError
from candlecast.forecasting.forecaster import Forecaster
from candlecast.forecasting.table import bars_of_table

ARTIFACT = "forecaster"


class BarsModel(PythonModel):
    """Forecasts from bars; `load_context` reads the weights, the scale and the card."""

    def load_context(self, context: PythonModelContext) -> None:
        """Load the folder that `forecaster.save_forecaster` wrote."""
        from pathlib import Path

        self.forecaster = Forecaster.load(Path(context.artifacts[ARTIFACT]))

    def predict(
        self, context: PythonModelContext, model_input: pd.DataFrame, params: dict[str, Any] | None = None
    ) -> pd.DataFrame:
        """Return ticker, date, forecast_return and probability_up, at each ticker's last bar.

        With `every_date` in `params`, at every bar that has a whole window behind it.
        """
        card = self.forecaster.card
        columns = {str(name): model_input[name].tolist() for name in model_input.columns}
        try:
            bars = bars_of_table(columns, card.checks, card.max_gap)
            ask = self.forecaster.every if (params or {}).get("every_date") else self.forecaster.latest
            forecasts = ask(bars)
        except CandlecastError as error:
            raise MlflowException.invalid_parameter_value(str(error)) from None
        rows = forecasts.to_dict(as_series=False)
        return pd.DataFrame({**rows, "date": [str(date) for date in rows["date"]]})


set_model(BarsModel())
