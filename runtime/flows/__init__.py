"""One turn with a language model: build the request, call the model, run the tools."""
