"""Prints the account, what it owes, and its affiliates.

    pip install ./packages/python
    PAYHOOK_API_KEY=$(cat data/first-api-key) python examples/python/first_call.py
"""

import os
import sys

from payhook import ApiConnectionError, ApiError, Payhook


def main() -> None:
    url = os.environ.get("PAYHOOK_URL", "http://127.0.0.1:8080")
    key = os.environ.get("PAYHOOK_API_KEY")
    if not key:
        sys.exit("PAYHOOK_API_KEY must be an API key")
    with Payhook(url, api_key=key) as payhook:
        try:
            account = payhook.account.get()
            print(f"{account['name']} pays in {account['default_currency']}")
            preview = payhook.payouts.preview()
            for total in preview["totals"]:
                # amounts are minor units: 3190 is 31.90 USD
                print(f"owed now: {total['amount']} {total['currency']} to {total['affiliate_count']} affiliates")
            for affiliate in payhook.affiliates.list(status="active"):
                print(affiliate["id"], affiliate["email"])
        except ApiError as error:
            sys.exit(f"refused ({error.reason}): {error}")
        except ApiConnectionError as error:
            sys.exit(str(error))


main()
