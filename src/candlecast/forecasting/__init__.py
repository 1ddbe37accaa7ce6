"""A trained model put to use: from bars a person has to a forecast, with what is known of its worth."""
