"""Ten calls through the client that openapi-python-client generates."""

import os

from payhook_client import AuthenticatedClient
from payhook_client.api.affiliates import (
    create_affiliate,
    delete_affiliate_destination,
    get_affiliate,
    put_affiliate_destination,
)
from payhook_client.api.commissions import create_commission, list_commissions
from payhook_client.api.payouts import complete_payout, create_payout, get_current_payout
from payhook_client.models import (
    CommissionByAffiliateEmail,
    CommissionByAffiliateId,
    CompletePayoutBody,
    CompletePayoutBodyCommissionsItem,
    CreateAffiliateBody,
    PayoutFilters,
    PayoutSelection,
    SepaDestination,
)

client = AuthenticatedClient(
    base_url=os.environ["PAYHOOK_URL"],
    token=os.environ["PAYHOOK_API_KEY"],
    raise_on_unexpected_status=True,
)
email = "python@example.com"
affiliate = create_affiliate.sync(client=client, body=CreateAffiliateBody(email=email))
destination = put_affiliate_destination.sync(
    affiliate.id,
    client=client,
    body=SepaDestination(type_="sepa", account_holder="Ada Lovelace", iban="DE89370400440532013000"),
)
by_id = CommissionByAffiliateId(
    external_id="python-1", affiliate_id=affiliate.id, amount=5000, currency="eur"
)
by_email = CommissionByAffiliateEmail(
    external_id="python-2", affiliate_email=email, amount=5000, currency="eur"
)
create_commission.sync(client=client, body=by_id)
create_commission.sync(client=client, body=by_email)
commissions = list_commissions.sync(client=client, affiliate_id=affiliate.id)
filters = PayoutFilters(currency="eur", affiliate_id=[affiliate.id])
payout = create_payout.sync(client=client, body=PayoutSelection(filters=filters))
current = get_current_payout.sync(client=client)
entry = CompletePayoutBodyCommissionsItem(affiliate_id=affiliate.id, is_paid=True)
completed = complete_payout.sync(
    payout.id, client=client, body=CompletePayoutBody(commissions=[entry])
)
paid = get_affiliate.sync(affiliate.id, client=client)
removed = delete_affiliate_destination.sync_detailed(affiliate.id, client=client)
print(
    destination.type_.value,
    commissions.pagination.total,
    current.totals[0].amount,
    completed.status.value,
    paid.email,
    removed.status_code.value,
)
