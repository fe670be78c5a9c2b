"""Names of the calls by which an agent asks a person, as stored in events."""

CREDENTIAL_CALL = "adk_request_credential"
