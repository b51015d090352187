"""The rules of the dialogue: events, states, refusals and the language of the minds. Pure."""
