"""Exchange of credentials for usable ones, such as a client's id and secret for a token."""

from runtime.auth.exchanger.base_credential_exchanger import BaseCredentialExchanger

__all__ = ["BaseCredentialExchanger"]
