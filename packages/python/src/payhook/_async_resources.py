# Made by `npm run generate` from the description of the API: change the routes, not this file.
"""The functions of the API by resource."""

from __future__ import annotations

import sys
from typing import Literal

from . import types as records
from ._calls import AsyncCalls, CallOptions, ConditionalOptions, KeyedConditionalOptions, KeyedOptions
from ._files import AsyncDownload, Upload
from ._listing import AsyncListing
from ._publishing import joined, requests_of

if sys.version_info >= (3, 11):
    from typing import Unpack
else:
    from typing_extensions import Unpack


class AsyncPayouts:
    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls

    def list(
        self,
        *,
        page: int | None = None,
        per_page: int | None = None,
        after: str | None = None,
        sort: Literal["id", "-id", "created_at", "-created_at", "updated_at", "-updated_at", "paid_at", "-paid_at", "number", "-number", "affiliate_count", "-affiliate_count", "commission_count", "-commission_count", "status", "-status"] | None = None,
        status: Literal["unpaid", "paid"] | None = None,
        affiliate_id: int | None = None,
        currency: str | None = None,
        created_at_gte: str | None = None,
        created_at_gt: str | None = None,
        created_at_lte: str | None = None,
        created_at_lt: str | None = None,
        paid_at_gte: str | None = None,
        paid_at_gt: str | None = None,
        paid_at_lte: str | None = None,
        paid_at_lt: str | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncListing[records.PayoutSummary]:
        """List affiliate payouts."""
        return self._calls.listing(
            "GET",
            ("/v2/affiliates/payouts",),
            query={"page": page, "per_page": per_page, "after": after, "sort": sort, "status": status, "affiliate_id": affiliate_id, "currency": currency, "created_at[gte]": created_at_gte, "created_at[gt]": created_at_gt, "created_at[lte]": created_at_lte, "created_at[lt]": created_at_lt, "paid_at[gte]": paid_at_gte, "paid_at[gt]": paid_at_gt, "paid_at[lte]": paid_at_lte, "paid_at[lt]": paid_at_lt},
            order="id",
            **options,
        )

    async def create(
        self,
        body: records.PayoutSelection | None = None,
        **options: Unpack[KeyedOptions],
    ) -> records.Payout:
        """Create a payout. Takes all unpaid commissions that match the filters and are not on hold. An
        account has at most one unpaid payout.
        """
        return await self._calls.record("POST", ("/v2/affiliates/payouts",), body=body, **options)

    async def preview(
        self,
        body: records.PayoutSelection | None = None,
        **options: Unpack[KeyedOptions],
    ) -> records.PayoutPreview:
        """Preview a payout. Shows exactly what create would do now, without doing it. Use it as a report
        of what you owe.
        """
        return await self._calls.record("POST", ("/v2/affiliates/payouts/preview",), body=body, **options)

    def preview_affiliates(
        self,
        body: records.PayoutSelection | None = None,
        *,
        page: int | None = None,
        per_page: int | None = None,
        after: str | None = None,
        sort: Literal["id", "-id", "affiliate_id", "-affiliate_id", "commission_count", "-commission_count"] | None = None,
        affiliate_id: int | None = None,
        **options: Unpack[KeyedOptions],
    ) -> AsyncListing[records.PayoutLine]:
        """List the lines a payout would pay. Works for any number of rows. Each page is computed when
        requested.
        """
        return self._calls.listing(
            "POST",
            ("/v2/affiliates/payouts/preview/affiliates",),
            query={"page": page, "per_page": per_page, "after": after, "sort": sort, "affiliate_id": affiliate_id},
            body=body,
            order="id",
            **options,
        )

    def preview_excluded(
        self,
        body: records.PayoutSelection | None = None,
        *,
        page: int | None = None,
        per_page: int | None = None,
        after: str | None = None,
        sort: Literal["id", "-id", "affiliate_id", "-affiliate_id", "amount", "-amount"] | None = None,
        reason: Literal["below_minimum", "negative_balance", "on_hold", "affiliate_inactive", "not_ready", "form_missing", "form_expired"] | None = None,
        affiliate_id: int | None = None,
        **options: Unpack[KeyedOptions],
    ) -> AsyncListing[records.PayoutPreviewExclusion]:
        """List the affiliates a payout would leave out. Works for any number of rows. Each page is
        computed when requested.
        """
        return self._calls.listing(
            "POST",
            ("/v2/affiliates/payouts/preview/excluded",),
            query={"page": page, "per_page": per_page, "after": after, "sort": sort, "reason": reason, "affiliate_id": affiliate_id},
            body=body,
            order="id",
            **options,
        )

    def preview_signals(
        self,
        body: records.PayoutSelection | None = None,
        *,
        page: int | None = None,
        per_page: int | None = None,
        after: str | None = None,
        sort: Literal["affiliate_id", "-affiliate_id", "amount", "-amount"] | None = None,
        rule: Literal["destination_changed", "shared_destination", "first_payout_above", "amount_above_history", "imported_together"] | None = None,
        affiliate_id: int | None = None,
        blocks: bool | None = None,
        **options: Unpack[KeyedOptions],
    ) -> AsyncListing[records.PayoutSignal]:
        """List the signals of a payout that would be created. Works for any number of rows. Each page is
        computed when requested.
        """
        return self._calls.listing(
            "POST",
            ("/v2/affiliates/payouts/preview/signals",),
            query={"page": page, "per_page": per_page, "after": after, "sort": sort, "rule": rule, "affiliate_id": affiliate_id, "blocks": blocks},
            body=body,
            order="affiliate_id",
            **options,
        )

    async def current(self, **options: Unpack[CallOptions]) -> records.Payout:
        """Get the current unpaid payout."""
        return await self._calls.record("GET", ("/v2/affiliates/payouts/current",), **options)

    async def get(self, payout_id: str, **options: Unpack[CallOptions]) -> records.Payout:
        """Get a payout by id. `current` in place of the id reads the unpaid payout, here and in the paths
        below.
        """
        return await self._calls.record("GET", ("/v2/affiliates/payouts/{payout_id}", payout_id), **options)

    async def complete(
        self,
        payout_id: str,
        body: records.CompletePayoutBody,
        **options: Unpack[KeyedConditionalOptions],
    ) -> records.CompletedPayout:
        """Complete a payout. Marks who was paid. A line is one affiliate in one currency. An entry covers
        one line, or without `currency` all lines of the affiliate. Listed with true: paid, in full or
        up to `amount`, with the rest owed again. Listed with false, or not listed: the commissions are
        released and owed again.
        """
        return await self._calls.record(
            "PUT",
            ("/v2/affiliates/payouts/{payout_id}", payout_id),
            body=body,
            **options,
        )

    async def delete(self, payout_id: str, **options: Unpack[ConditionalOptions]) -> None:
        """Delete a payout. Only an unpaid payout can be deleted; its commissions are released."""
        await self._calls.nothing("DELETE", ("/v2/affiliates/payouts/{payout_id}", payout_id), **options)

    async def approval(self, payout_id: str, **options: Unpack[CallOptions]) -> records.PayoutApproval:
        """Get the approval of a payout. Who created and changed the payout, how many people must approve
        it, who did, and for each owner and member whether they can approve, or why not.
        """
        return await self._calls.record(
            "GET",
            ("/v2/affiliates/payouts/{payout_id}/approval", payout_id),
            **options,
        )

    async def approve(
        self,
        payout_id: str,
        body: records.ApprovePayoutBody,
        **options: Unpack[KeyedOptions],
    ) -> records.Payout:
        """Approve a payout. For accounts whose `approval` is `second_person`. Needs the session of a user
        who did not create or change the payout, and was not let in since by a user who did. An approval
        applies to one revision: any change of the payout voids it. A payout whose author is unknown
        needs two. Until approved, it has no payment files and cannot be completed. `getPayoutApproval`
        says who may approve.
        """
        return await self._calls.record(
            "POST",
            ("/v2/affiliates/payouts/{payout_id}/approve", payout_id),
            body=body,
            **options,
        )

    async def reject(
        self,
        payout_id: str,
        body: records.RejectPayoutBody,
        **options: Unpack[KeyedOptions],
    ) -> records.Payout:
        """Reject a payout. The payout stays visible as it is until it is changed, deleted or approved."""
        return await self._calls.record(
            "POST",
            ("/v2/affiliates/payouts/{payout_id}/reject", payout_id),
            body=body,
            **options,
        )

    async def download(self, payout_id: str, **options: Unpack[CallOptions]) -> AsyncDownload:
        """Download payout CSV. One row per commission: all commissions of an unpaid payout, and the paid
        ones of a paid payout.
        """
        return await self._calls.download(
            "GET",
            ("/v2/affiliates/payouts/{payout_id}/download", payout_id),
            **options,
        )

    def affiliates(
        self,
        payout_id: str,
        *,
        page: int | None = None,
        per_page: int | None = None,
        after: str | None = None,
        sort: Literal["id", "-id", "affiliate_id", "-affiliate_id", "is_paid", "-is_paid"] | None = None,
        affiliate_id: int | None = None,
        is_paid: bool | None = None,
        payment_reference: str | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncListing[records.PayoutLine]:
        """List the lines of a payout."""
        return self._calls.listing(
            "GET",
            ("/v2/affiliates/payouts/{payout_id}/affiliates", payout_id),
            query={"page": page, "per_page": per_page, "after": after, "sort": sort, "affiliate_id": affiliate_id, "is_paid": is_paid, "payment_reference": payment_reference},
            order="id",
            **options,
        )

    def commissions(
        self,
        payout_id: str,
        *,
        page: int | None = None,
        per_page: int | None = None,
        after: str | None = None,
        sort: Literal["id", "-id", "created_at", "-created_at", "occurred_at", "-occurred_at"] | None = None,
        status: Literal["pending", "unpaid", "paid", "voided"] | None = None,
        affiliate_id: int | None = None,
        program_id: int | None = None,
        has_program: bool | None = None,
        payout_id_: str | None = None,
        currency: str | None = None,
        type: Literal["sale", "recurring", "bonus", "adjustment", "clawback"] | None = None,
        order_id: str | None = None,
        order_line_id: str | None = None,
        external_id: str | None = None,
        created_at_gte: str | None = None,
        created_at_gt: str | None = None,
        created_at_lte: str | None = None,
        created_at_lt: str | None = None,
        occurred_at_gte: str | None = None,
        occurred_at_gt: str | None = None,
        occurred_at_lte: str | None = None,
        occurred_at_lt: str | None = None,
        voided_at_gte: str | None = None,
        voided_at_gt: str | None = None,
        voided_at_lte: str | None = None,
        voided_at_lt: str | None = None,
        paid_at_gte: str | None = None,
        paid_at_gt: str | None = None,
        paid_at_lte: str | None = None,
        paid_at_lt: str | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncListing[records.Commission]:
        """List the commissions of a payout."""
        return self._calls.listing(
            "GET",
            ("/v2/affiliates/payouts/{payout_id}/commissions", payout_id),
            query={"page": page, "per_page": per_page, "after": after, "sort": sort, "status": status, "affiliate_id": affiliate_id, "program_id": program_id, "has_program": has_program, "payout_id": payout_id_, "currency": currency, "type": type, "order_id": order_id, "order_line_id": order_line_id, "external_id": external_id, "created_at[gte]": created_at_gte, "created_at[gt]": created_at_gt, "created_at[lte]": created_at_lte, "created_at[lt]": created_at_lt, "occurred_at[gte]": occurred_at_gte, "occurred_at[gt]": occurred_at_gt, "occurred_at[lte]": occurred_at_lte, "occurred_at[lt]": occurred_at_lt, "voided_at[gte]": voided_at_gte, "voided_at[gt]": voided_at_gt, "voided_at[lte]": voided_at_lte, "voided_at[lt]": voided_at_lt, "paid_at[gte]": paid_at_gte, "paid_at[gt]": paid_at_gt, "paid_at[lte]": paid_at_lte, "paid_at[lt]": paid_at_lt},
            order="id",
            **options,
        )

    def excluded(
        self,
        payout_id: str,
        *,
        page: int | None = None,
        per_page: int | None = None,
        after: str | None = None,
        sort: Literal["id", "-id", "affiliate_id", "-affiliate_id", "amount", "-amount"] | None = None,
        reason: Literal["below_minimum", "negative_balance", "on_hold", "affiliate_inactive", "not_ready", "form_missing", "form_expired"] | None = None,
        affiliate_id: int | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncListing[records.PayoutExclusion]:
        """List the affiliates left out of a payout."""
        return self._calls.listing(
            "GET",
            ("/v2/affiliates/payouts/{payout_id}/excluded", payout_id),
            query={"page": page, "per_page": per_page, "after": after, "sort": sort, "reason": reason, "affiliate_id": affiliate_id},
            order="id",
            **options,
        )

    def signals(
        self,
        payout_id: str,
        *,
        page: int | None = None,
        per_page: int | None = None,
        after: str | None = None,
        sort: Literal["affiliate_id", "-affiliate_id", "amount", "-amount", "is_reviewed", "-is_reviewed"] | None = None,
        rule: Literal["destination_changed", "shared_destination", "first_payout_above", "amount_above_history", "imported_together"] | None = None,
        affiliate_id: int | None = None,
        blocks: bool | None = None,
        is_ended: bool | None = None,
        is_reviewed: bool | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncListing[records.PayoutSignal]:
        """List the signals of a payout. What may point to fraud in its lines, found when it was created
        and when it changed, and who reviewed it. Those that no longer hold stay: `is_ended=false`
        leaves them out.
        """
        return self._calls.listing(
            "GET",
            ("/v2/affiliates/payouts/{payout_id}/signals", payout_id),
            query={"page": page, "per_page": per_page, "after": after, "sort": sort, "rule": rule, "affiliate_id": affiliate_id, "blocks": blocks, "is_ended": is_ended, "is_reviewed": is_reviewed},
            order="affiliate_id",
            **options,
        )

    async def download_signals(self, payout_id: str, **options: Unpack[CallOptions]) -> AsyncDownload:
        """Download the signals of a payout as CSV."""
        return await self._calls.download(
            "GET",
            ("/v2/affiliates/payouts/{payout_id}/signals/download", payout_id),
            **options,
        )

    async def review_signals(
        self,
        payout_id: str,
        body: records.ReviewPayoutSignalsBody,
        **options: Unpack[KeyedOptions],
    ) -> records.Payout:
        """Review signals of a payout. Notes that you, a signed-in user, have looked into signals, so that
        they no longer block. Signals that are found later need a review of their own. Approving the
        payout reviews those that do not block.
        """
        return await self._calls.record(
            "POST",
            ("/v2/affiliates/payouts/{payout_id}/signals/review", payout_id),
            body=body,
            **options,
        )

    async def returned(
        self,
        payout_id: str,
        affiliate_id: int,
        body: records.ReturnPayoutLineBody,
        **options: Unpack[KeyedOptions],
    ) -> records.PayoutLine:
        """Book a return. Books the return of a payment, in full or in part, as often as needed, up to the
        amount paid. The money is owed to the affiliate again, exempt from the minimum. Idempotent by
        `external_id`.
        """
        return await self._calls.record(
            "POST",
            ("/v2/affiliates/payouts/{payout_id}/affiliates/{affiliate_id}/returned", payout_id, affiliate_id),
            body=body,
            **options,
        )

    def returns(
        self,
        payout_id: str,
        affiliate_id: int,
        *,
        page: int | None = None,
        per_page: int | None = None,
        after: str | None = None,
        sort: Literal["id", "-id", "returned_at", "-returned_at", "amount", "-amount"] | None = None,
        currency: str | None = None,
        is_undone: bool | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncListing[records.PayoutReturn]:
        """List the returns of a line. Includes returns that were undone."""
        return self._calls.listing(
            "GET",
            ("/v2/affiliates/payouts/{payout_id}/affiliates/{affiliate_id}/returned", payout_id, affiliate_id),
            query={"page": page, "per_page": per_page, "after": after, "sort": sort, "currency": currency, "is_undone": is_undone},
            order="id",
            **options,
        )

    async def undo_return(
        self,
        payout_id: str,
        affiliate_id: int,
        return_id: str,
        **options: Unpack[CallOptions],
    ) -> None:
        """Delete a return. Undoes a return booked by mistake, as long as its money was not paid again. Its
        adjustment is voided and leaves the unpaid payout. The record stays, with `undone_at`.
        """
        await self._calls.nothing(
            "DELETE",
            ("/v2/affiliates/payouts/{payout_id}/affiliates/{affiliate_id}/returned/{return_id}", payout_id, affiliate_id, return_id),
            **options,
        )

    async def payment_files(self, payout_id: str, **options: Unpack[CallOptions]) -> records.PaymentFiles:
        """Get the payment files that a payout needs. One file for each payment method and currency: whom
        it pays, whom it cannot pay and why, the sums, and who downloaded it at which revision. A
        download is recorded before its first byte is sent. `in_several_files` lists affiliates whom two
        different files pay.
        """
        return await self._calls.record(
            "GET",
            ("/v2/affiliates/payouts/{payout_id}/payment-files", payout_id),
            **options,
        )

    async def payment_file(
        self,
        payout_id: str,
        format: str,
        *,
        currency: str | None = None,
        part: int | None = None,
        rows_per_file: int | None = None,
        allow_skipped: bool | None = None,
        source_currency: str | None = None,
        execution_date: str | None = None,
        instant: bool | None = None,
        whole_units: Literal["down"] | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncDownload:
        """Download a payment file. One row per affiliate and currency: all lines of an unpaid payout, and
        the paid lines of a paid one. The formats: `summary`: a list for people with a header: all
        affiliates and currencies, and what Complete noted (takes no parameters); `paypal`: upload file
        of PayPal Payouts (takes currency, part, rows_per_file, allow_skipped, whole_units); `wise`:
        batch payments of Wise, to recipients known by e-mail; the amount that arrives is fixed and you
        pay the fees (takes currency, part, rows_per_file, allow_skipped, source_currency); `wise_bank`:
        batch payments of Wise in EUR, to recipients with an IBAN, who need not answer an e-mail; the
        amount that arrives is fixed and you pay the fees (takes currency, part, rows_per_file,
        allow_skipped, source_currency); `sepa`: credit transfers in EUR for a European bank (pain.001)
        (takes currency, part, rows_per_file, allow_skipped, execution_date, instant); `nacha`: ACH
        credits in USD for a bank in the United States (takes currency, part, rows_per_file,
        allow_skipped, execution_date). The header Payhook-Skipped-Affiliates counts affiliates left out
        of the chosen currency, Payhook-Affiliates-Above-Limit those in it whose amount PayPal may
        refuse: see `paypal_payment_limit`. A bank's file is paid from the `debtor` or `originator` of
        the account. A file keeps its bytes and its id as long as nothing it depends on changes: rows,
        debtor or originator, rows per file, day. Otherwise it belongs to another file set, which names
        the one it replaces. Payhook-Affiliates-In-Other-Files warns of affiliates whom an earlier,
        different file also pays. Viewers may not download payment files, because they contain whole
        account numbers.
        """
        return await self._calls.download(
            "GET",
            ("/v2/affiliates/payouts/{payout_id}/payment-files/{format}", payout_id, format),
            query={"currency": currency, "part": part, "rows_per_file": rows_per_file, "allow_skipped": allow_skipped, "source_currency": source_currency, "execution_date": execution_date, "instant": instant, "whole_units": whole_units},
            **options,
        )

    async def take_result(
        self,
        payout_id: str,
        file: Upload,
        *,
        ignore_columns: str | None = None,
        **options: Unpack[KeyedOptions],
    ) -> records.PayoutResultProposal:
        """Read the answer of a bank or provider. Takes a camt.053, camt.054 or pain.002 of a bank, a NACHA
        file with returns, a report of PayPal or Wise, verifications of payees as JSON, or a CSV file
        with `reference` or `affiliate_id`. Its kind is recognised by its bytes; text/csv,
        application/xml and application/json are accepted too. The response proposes a result for each
        line and changes nothing; verifications of payees are kept with their destinations, and
        corrections of destinations are proposed. Complete the payout with the lines you agree with, and
        book returns. A line without an answer may have been paid: do not release it before you know.
        docs/results.md has the layouts.
        """
        return await self._calls.record(
            "POST",
            ("/v2/affiliates/payouts/{payout_id}/results", payout_id),
            query={"ignore_columns": ignore_columns},
            file=file,
            media="application/octet-stream",
            **options,
        )

    def results(
        self,
        payout_id: str,
        *,
        page: int | None = None,
        per_page: int | None = None,
        after: str | None = None,
        sort: Literal["id", "-id"] | None = None,
        kind: Literal["camt.053", "camt.054", "pain.002", "verification", "nacha", "paypal", "wise", "paid_list"] | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncListing[records.PayoutResult]:
        """List the result files of a payout."""
        return self._calls.listing(
            "GET",
            ("/v2/affiliates/payouts/{payout_id}/results", payout_id),
            query={"page": page, "per_page": per_page, "after": after, "sort": sort, "kind": kind},
            order="id",
            **options,
        )

    def verifications(
        self,
        payout_id: str,
        *,
        page: int | None = None,
        per_page: int | None = None,
        after: str | None = None,
        sort: Literal["affiliate_id", "-affiliate_id", "verified_at", "-verified_at"] | None = None,
        result: Literal["match", "close_match", "no_match", "not_possible", "name_used"] | None = None,
        is_mismatch: bool | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncListing[records.PayoutVerification]:
        """List what banks answered about the payees of a payout. The last verification of each destination
        that the payout pays, also from the files of earlier payouts. A destination that was changed
        since has none. `is_mismatch=true` lists those to decide about before the payout is approved.
        """
        return self._calls.listing(
            "GET",
            ("/v2/affiliates/payouts/{payout_id}/verifications", payout_id),
            query={"page": page, "per_page": per_page, "after": after, "sort": sort, "result": result, "is_mismatch": is_mismatch},
            order="affiliate_id",
            **options,
        )


class AsyncPayoutSchedules:
    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls

    def list(
        self,
        *,
        page: int | None = None,
        per_page: int | None = None,
        after: str | None = None,
        sort: Literal["created_at", "-created_at", "name", "-name"] | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncListing[records.PayoutSchedule]:
        """List schedules of payouts."""
        return self._calls.listing(
            "GET",
            ("/v2/affiliates/payout-schedules",),
            query={"page": page, "per_page": per_page, "after": after, "sort": sort},
            order="-created_at",
            **options,
        )

    async def create(
        self,
        body: records.CreatePayoutScheduleBody,
        **options: Unpack[KeyedOptions],
    ) -> records.PayoutSchedule:
        """Create a schedule of payouts. On its day, a schedule creates a payout as `POST
        /v2/affiliates/payouts` would, and a person completes it. It is first due after today. If no
        server was running on a due day, it runs once when a server starts. If there is nothing to pay,
        or another payout is unpaid, it creates none until its next due day, and `last_run` says why.
        """
        return await self._calls.record("POST", ("/v2/affiliates/payout-schedules",), body=body, **options)

    async def get(self, schedule_id: str, **options: Unpack[CallOptions]) -> records.PayoutSchedule:
        """Get a schedule of payouts."""
        return await self._calls.record(
            "GET",
            ("/v2/affiliates/payout-schedules/{schedule_id}", schedule_id),
            **options,
        )

    async def change(
        self,
        schedule_id: str,
        body: records.ChangePayoutScheduleBody,
        **options: Unpack[KeyedOptions],
    ) -> records.PayoutSchedule:
        """Change a schedule of payouts. The author of a change counts as the creator of the next payouts,
        and so cannot approve them. The next due day is counted from today.
        """
        return await self._calls.record(
            "PATCH",
            ("/v2/affiliates/payout-schedules/{schedule_id}", schedule_id),
            body=body,
            **options,
        )

    async def delete(self, schedule_id: str, **options: Unpack[CallOptions]) -> None:
        """Delete a schedule of payouts. Its payouts stay."""
        await self._calls.nothing(
            "DELETE",
            ("/v2/affiliates/payout-schedules/{schedule_id}", schedule_id),
            **options,
        )


class AsyncInvoices:
    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls

    async def issue(
        self,
        payout_id: str,
        body: records.IssueInvoicesBody | None = None,
        **options: Unpack[KeyedOptions],
    ) -> records.IssuedInvoices:
        """Issue the invoices of a payout. For each paid line of an affiliate who agreed to self-billing,
        issues an invoice for the payment, including tax by the rules of `invoicing`, and a credit note
        for returns since. Repeating the request issues only what is missing. A return of an invoiced
        line is credited when it is booked. Where VAT must be stated in the currency of the supplier’s
        country (members of the EU, GB) and the payment is in another, the line is skipped unless
        `rates` has the rate.
        """
        return await self._calls.record(
            "POST",
            ("/v2/affiliates/payouts/{payout_id}/invoices", payout_id),
            body=body,
            **options,
        )

    def list(
        self,
        *,
        page: int | None = None,
        per_page: int | None = None,
        after: str | None = None,
        sort: Literal["id", "-id", "amount", "-amount"] | None = None,
        number: str | None = None,
        payout_id: str | None = None,
        affiliate_id: int | None = None,
        currency: str | None = None,
        kind: Literal["invoice", "credit_note"] | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncListing[records.Invoice]:
        """List invoices. Self-billing invoices and credit notes."""
        return self._calls.listing(
            "GET",
            ("/v2/affiliates/invoices",),
            query={"page": page, "per_page": per_page, "after": after, "sort": sort, "number": number, "payout_id": payout_id, "affiliate_id": affiliate_id, "currency": currency, "kind": kind},
            order="id",
            **options,
        )

    async def get(self, invoice_id: str, **options: Unpack[CallOptions]) -> records.Invoice:
        """Get an invoice."""
        return await self._calls.record(
            "GET",
            ("/v2/affiliates/invoices/{invoice_id}", invoice_id),
            **options,
        )

    async def file(
        self,
        invoice_id: str,
        *,
        format: Literal["pdf", "html", "xml", "ubl"] | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncDownload:
        """Download an invoice. Not for viewers, because it contains the whole tax id of the affiliate.
        `pdf` is a PDF/A-3 with the XML in it (Factur-X, ZUGFeRD 2, profile EN 16931), `xml` that XML
        alone, `html` a page to print, `ubl` an invoice of Peppol BIS Self-Billing 3, which an access
        point sends to the electronic addresses of today.
        """
        return await self._calls.download(
            "GET",
            ("/v2/affiliates/invoices/{invoice_id}/download", invoice_id),
            query={"format": format},
            **options,
        )

    async def archive(
        self,
        payout_id: str,
        *,
        format: Literal["pdf", "xml", "ubl"] | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncDownload:
        """Download the invoices of a payout. A zip archive of its invoices and credit notes, each as
        `downloadInvoice` writes it. If some cannot be written, `skipped.csv` in it has their numbers,
        affiliates and the reasons (`invoice`, `affiliate_id`, `reason`, `message`); if none can, the
        request is refused for the reason of the first. The audit log records the download. Not for
        viewers.
        """
        return await self._calls.download(
            "GET",
            ("/v2/affiliates/payouts/{payout_id}/invoices/download", payout_id),
            query={"format": format},
            **options,
        )


class AsyncReports:
    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls

    async def summary(
        self,
        *,
        period: str | None = None,
        from_: str | None = None,
        to: str | None = None,
        by: Literal["currency", "method", "program", "country", "affiliate"] | None = None,
        country: str | None = None,
        currency: str | None = None,
        page: str | None = None,
        per_page: str | None = None,
        **options: Unpack[CallOptions],
    ) -> records.ReportSummary:
        """Get what was earned, refunded and paid in a period. Amounts by currency and group, for a period
        in the account's time zone. Amounts of different currencies are never added. In each row:
        opening + earned + adjusted - refunded - voided - paid + returned = closing. A refund or payment
        that is entered late still belongs to the day on which it happened. By `method`, only what was
        paid and returned is known, by the method of the payment; by `program`, everything else, because
        a payment belongs to an affiliate and a currency. These amounts are null. Countries are the
        current ones of the affiliates.
        """
        return await self._calls.record(
            "GET",
            ("/v2/reports/summary",),
            query={"period": period, "from": from_, "to": to, "by": by, "country": country, "currency": currency, "page": page, "per_page": per_page},
            **options,
        )

    async def summary_file(
        self,
        *,
        period: str | None = None,
        from_: str | None = None,
        to: str | None = None,
        by: Literal["currency", "method", "program", "country", "affiliate"] | None = None,
        country: str | None = None,
        currency: str | None = None,
        format: Literal["csv", "pdf", "html"] | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncDownload:
        """Download what was earned, refunded and paid in a period. Amounts by currency and group, for a
        period in the account's time zone. Amounts of different currencies are never added. In each row:
        opening + earned + adjusted - refunded - voided - paid + returned = closing. A refund or payment
        that is entered late still belongs to the day on which it happened. By `method`, only what was
        paid and returned is known, by the method of the payment; by `program`, everything else, because
        a payment belongs to an affiliate and a currency. These amounts are null. Countries are the
        current ones of the affiliates. `csv` has all rows, with decimal amounts; `pdf` is an A4
        document and `html` a page to print, each of at most 1,000 rows.
        """
        return await self._calls.download(
            "GET",
            ("/v2/reports/summary/download",),
            query={"period": period, "from": from_, "to": to, "by": by, "country": country, "currency": currency, "format": format},
            **options,
        )

    def entries(
        self,
        *,
        page: int | None = None,
        per_page: int | None = None,
        after: str | None = None,
        sort: Literal["occurred_at", "-occurred_at"] | None = None,
        from_: str | None = None,
        to: str | None = None,
        kind: Literal["earned", "adjusted", "refunded", "voided", "paid", "returned"] | None = None,
        currency: str | None = None,
        affiliate_id: int | None = None,
        country: str | None = None,
        program_id: int | None = None,
        has_program: bool | None = None,
        payout_method: Literal["paypal", "wise", "other", "wise_bank", "sepa", "ach", "none"] | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncListing[records.ReportEntry]:
        """List the entries behind the amounts of a report. One entry for each commission, adjustment,
        refund, void, payment and return. An amount of a report is the sum of the entries of its kind,
        days, currency and group, and what is owed after a day that of all entries up to it. Only
        payments and returns have a `payout_method`, and only the others a program.
        """
        return self._calls.listing(
            "GET",
            ("/v2/reports/summary/entries",),
            query={"page": page, "per_page": per_page, "after": after, "sort": sort, "from": from_, "to": to, "kind": kind, "currency": currency, "affiliate_id": affiliate_id, "country": country, "program_id": program_id, "has_program": has_program, "payout_method": payout_method},
            order="-occurred_at",
            **options,
        )

    async def paid(
        self,
        *,
        year: str | None = None,
        from_: str | None = None,
        to: str | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncDownload:
        """Download the payments of a period. One row per affiliate, currency and payout method, on a cash
        basis: what was paid in the period, what was returned in it, and the difference. A period is a
        `year`, or the days `from` and `to`, both included, in the account's time zone; a missing bound
        is open. Names, addresses and countries are current, `payout_method` is that of the payment.
        """
        return await self._calls.download(
            "GET",
            ("/v2/affiliates/reports/paid",),
            query={"year": year, "from": from_, "to": to},
            **options,
        )

    def paid_rows(
        self,
        *,
        page: int | None = None,
        per_page: int | None = None,
        after: str | None = None,
        sort: Literal["id", "-id", "affiliate_id", "-affiliate_id"] | None = None,
        from_: str | None = None,
        to: str | None = None,
        year: str | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncListing[records.PaidRow]:
        """List the payments of a period. One row per affiliate, currency and payout method, on a cash
        basis: what was paid in the period, what was returned in it, and the difference. A period is a
        `year`, or the days `from` and `to`, both included, in the account's time zone; a missing bound
        is open. Names, addresses and countries are current, `payout_method` is that of the payment.
        """
        return self._calls.listing(
            "GET",
            ("/v2/affiliates/reports/paid/rows",),
            query={"page": page, "per_page": per_page, "after": after, "sort": sort, "from": from_, "to": to, "year": year},
            order="id",
            **options,
        )

    async def us_tax(self, *, year: str | None = None, **options: Unpack[CallOptions]) -> records.UsTaxReport:
        """Get the sums of a year for US tax forms. The figures that a payer in the United States needs for
        a calendar year of the account’s time zone: who was paid by which method, net of returns, and
        who has not signed a form. PayPal reports its payments on Form 1099-K, so they are separate. It
        is a list, not advice.
        """
        return await self._calls.record(
            "GET",
            ("/v2/affiliates/reports/us-tax",),
            query={"year": year},
            **options,
        )

    def us_tax_rows(
        self,
        *,
        page: int | None = None,
        per_page: int | None = None,
        after: str | None = None,
        sort: Literal["affiliate_id", "-affiliate_id", "reportable_amount", "-reportable_amount"] | None = None,
        year: str | None = None,
        residence: Literal["us", "foreign", "unknown"] | None = None,
        missing_form: Literal["w9", "w8"] | None = None,
        is_above_state_threshold: bool | None = None,
        is_reportable: bool | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncListing[records.UsTaxRow]:
        """List affiliates for US tax forms. The figures that a payer in the United States needs for a
        calendar year of the account’s time zone: who was paid by which method, net of returns, and who
        has not signed a form. PayPal reports its payments on Form 1099-K, so they are separate. It is a
        list, not advice. One row per affiliate.
        """
        return self._calls.listing(
            "GET",
            ("/v2/affiliates/reports/us-tax/rows",),
            query={"page": page, "per_page": per_page, "after": after, "sort": sort, "year": year, "residence": residence, "missing_form": missing_form, "is_above_state_threshold": is_above_state_threshold, "is_reportable": is_reportable},
            order="affiliate_id",
            **options,
        )

    async def export_us_tax(
        self,
        *,
        year: str | None = None,
        format: records.UsTaxFormat | None = None,
        **options: Unpack[KeyedOptions],
    ) -> AsyncDownload:
        """Export the data of Form 1099-NEC for a filing service or the IRS. A file with whole tax ids. By
        default one row for each affiliate in the United States who was paid the threshold or more by
        methods that you report, and the columns are the fields of the form as Avalara (formerly
        Track1099) names them; a service with other names lets you map them. The download is recorded in
        the audit log.
        """
        return await self._calls.download(
            "POST",
            ("/v2/affiliates/reports/us-tax/export",),
            query={"year": year, "format": format},
            **options,
        )

    async def statement(
        self,
        affiliate_id: int,
        *,
        year: str | None = None,
        from_: str | None = None,
        to: str | None = None,
        **options: Unpack[CallOptions],
    ) -> records.AffiliateStatement:
        """Get the statement of an affiliate. By currency: what was owed before the period, what was
        earned, adjusted, refunded, voided, paid and returned in it, and what was owed after it.
        Consecutive statements join without a gap. A refund that is entered late still belongs to the
        day on which it happened.
        """
        return await self._calls.record(
            "GET",
            ("/v2/affiliates/{affiliate_id}/statement", affiliate_id),
            query={"year": year, "from": from_, "to": to},
            **options,
        )

    async def statement_file(
        self,
        affiliate_id: int,
        *,
        year: str | None = None,
        from_: str | None = None,
        to: str | None = None,
        format: Literal["csv", "pdf", "html"] | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncDownload:
        """Download the statement of an affiliate. By currency: what was owed before the period, what was
        earned, adjusted, refunded, voided, paid and returned in it, and what was owed after it.
        Consecutive statements join without a gap. A refund that is entered late still belongs to the
        day on which it happened. The file has every entry between the balances of a currency. `pdf` is
        an A4 document and `html` a page to print; both show the names of the account and of the
        affiliate, and at most 5,000 entries.
        """
        return await self._calls.download(
            "GET",
            ("/v2/affiliates/{affiliate_id}/statement/download", affiliate_id),
            query={"year": year, "from": from_, "to": to, "format": format},
            **options,
        )


class AsyncAffiliates:
    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls

    def list(
        self,
        *,
        page: int | None = None,
        per_page: int | None = None,
        after: str | None = None,
        sort: Literal["id", "-id", "created_at", "-created_at", "email", "-email", "unpaid", "-unpaid"] | None = None,
        external_id: str | None = None,
        status: Literal["active", "inactive"] | None = None,
        is_ready_for_payout: bool | None = None,
        payout_method: Literal["paypal", "wise", "other", "wise_bank", "sepa", "ach", "none"] | None = None,
        has_destination: bool | None = None,
        program_id: int | None = None,
        email: str | None = None,
        search: str | None = None,
        balance_currency: str | None = None,
        created_at_gte: str | None = None,
        created_at_gt: str | None = None,
        created_at_lte: str | None = None,
        created_at_lt: str | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncListing[records.AffiliateWithBalance]:
        """List affiliates. With their balances. `sort=-unpaid` begins with whom most is owed that a payout
        may take, in `balance_currency`, by default the account's; who has nothing in it stays in the
        list, at 0.
        """
        return self._calls.listing(
            "GET",
            ("/v2/affiliates",),
            query={"page": page, "per_page": per_page, "after": after, "sort": sort, "external_id": external_id, "status": status, "is_ready_for_payout": is_ready_for_payout, "payout_method": payout_method, "has_destination": has_destination, "program_id": program_id, "email": email, "search": search, "balance_currency": balance_currency, "created_at[gte]": created_at_gte, "created_at[gt]": created_at_gt, "created_at[lte]": created_at_lte, "created_at[lt]": created_at_lt},
            order="id",
            **options,
        )

    async def create(
        self,
        body: records.CreateAffiliateBody,
        **options: Unpack[KeyedOptions],
    ) -> records.Affiliate:
        """Create an affiliate. If the affiliate exists, the answer is a 409 whose `Location` is the
        affiliate with that e-mail address or external_id.
        """
        return await self._calls.record("POST", ("/v2/affiliates",), body=body, **options)

    async def balances(self, **options: Unpack[CallOptions]) -> records.AffiliateBalances:
        """Get what is owed in all. What all affiliates are owed, by currency and state. `payable` is what
        a payout without filters would take now; what else is not in the unpaid payout has the reason
        for which that would leave it out.
        """
        return await self._calls.record("GET", ("/v2/affiliates/balances",), **options)

    async def import_(
        self,
        file: Upload,
        *,
        dry_run: bool | None = None,
        partial: bool | None = None,
        progress_key: str | None = None,
        **options: Unpack[KeyedOptions],
    ) -> records.AffiliateImport:
        """Import affiliates from CSV. Creates or updates, by external_id, else by e-mail. Columns:
        name_first, name_last, email, external_id, slug, status, payout_method, paypal_email,
        is_ready_for_payout, commissions_are, legal_type, country, language; email is required. A column
        that is not there is left unchanged, an empty cell clears; a PayPal address without a method
        sets `payout_method` to `paypal`. Where they are paid: destination_type, account_holder, iban,
        bic, routing_number, account_number, account_type. Their tax profile: legal_name, tax_country,
        address_line1, address_line2, address_postal_code, address_city, address_region, tax_id,
        tax_id_type, tax_form, tax_form_signed_on, tax_form_document, siren, electronic_address,
        self_billing_agreed_on, self_billing_expires_on, self_billing_agreed_by, self_billing_document.
        A line without any cell of these leaves them. One transaction: a bad line stops the import with
        nothing written, unless `partial`; `dry_run` reports and writes nothing. Files of another shape
        go to `/v2/imports`.
        """
        return await self._calls.record(
            "POST",
            ("/v2/affiliates/import",),
            query={"dry_run": dry_run, "partial": partial, "progress_key": progress_key},
            file=file,
            media="text/csv",
            **options,
        )

    async def get(self, affiliate_id: int, **options: Unpack[CallOptions]) -> records.AffiliateWithBalance:
        """Get an affiliate with its balance."""
        return await self._calls.record("GET", ("/v2/affiliates/{affiliate_id}", affiliate_id), **options)

    async def change(
        self,
        affiliate_id: int,
        body: records.ChangeAffiliateBody,
        **options: Unpack[KeyedOptions],
    ) -> records.Affiliate:
        """Change an affiliate. Changes the fields you send; null clears. A new name or destination shows
        in the unpaid payout at once and raises its revision. Sending the current values is no change
        and causes no event.
        """
        return await self._calls.record(
            "PATCH",
            ("/v2/affiliates/{affiliate_id}", affiliate_id),
            body=body,
            **options,
        )

    async def erase(self, affiliate_id: int, **options: Unpack[KeyedOptions]) -> records.Erasure:
        """Erase the person behind an affiliate. Takes names, e-mail addresses and your own id out of the
        affiliate, its payouts and imports at once, then out of commissions, refunds, events, attempts,
        stored answers and the audit log. It cannot be undone. Amounts stay, and the affiliate stays as
        an inactive one without a name. Ask again to learn whether it is completed. An affiliate with
        the same e-mail address that is created or imported afterwards is a new one.
        """
        return await self._calls.record(
            "POST",
            ("/v2/affiliates/{affiliate_id}/erase", affiliate_id),
            **options,
        )

    async def get_by_external_id(
        self,
        external_id: str,
        **options: Unpack[CallOptions],
    ) -> records.AffiliateWithBalance:
        """Get an affiliate by your own id. With its balance."""
        return await self._calls.record(
            "GET",
            ("/v2/affiliates/by-external-id/{external_id}", external_id),
            **options,
        )

    async def put_by_external_id(
        self,
        external_id: str,
        body: records.PutAffiliateByExternalIdBody,
        **options: Unpack[KeyedOptions],
    ) -> records.Affiliate:
        """Create or change an affiliate by your own id. Creates the affiliate with this external_id (201;
        `email` is required), or changes the fields you send if it exists (200). Absent fields stay as
        they are, null clears, and sending the current values causes no event. Two requests at once
        create one affiliate. An e-mail address of another affiliate is a 409.
        """
        return await self._calls.record(
            "PUT",
            ("/v2/affiliates/by-external-id/{external_id}", external_id),
            body=body,
            **options,
        )

    async def destinations(
        self,
        affiliate_id: int,
        **options: Unpack[CallOptions],
    ) -> records.AffiliateDestinations:
        """Get where an affiliate is paid. The one destination for all currencies, and those for single
        currencies. Account numbers are shown by their last four characters.
        """
        return await self._calls.record(
            "GET",
            ("/v2/affiliates/{affiliate_id}/destination", affiliate_id),
            **options,
        )

    async def put_destination(
        self,
        affiliate_id: int,
        body: records.PutAffiliateDestinationBody,
        **options: Unpack[KeyedOptions],
    ) -> records.AffiliateDestination:
        """Set where an affiliate is paid. Replaces the destination for `currency`, or the one for all
        currencies. `sepa` needs `account_holder` and `iban`, and takes `bic`; `ach` needs
        `account_holder`, `routing_number`, `account_number` and `account_type`; the other types need
        nothing more. A destination is used instead of `payout_method`. It shows in the unpaid payout at
        once and raises its revision. IBAN and account number are sealed and never shown again.
        """
        return await self._calls.record(
            "PUT",
            ("/v2/affiliates/{affiliate_id}/destination", affiliate_id),
            body=body,
            **options,
        )

    async def remove_destination(
        self,
        affiliate_id: int,
        *,
        currency: str | None = None,
        **options: Unpack[CallOptions],
    ) -> None:
        """Delete where an affiliate is paid. Deletes the destination for `currency`, or the one for all
        currencies. Without any the affiliate is paid as its `payout_method` and `paypal_email` say.
        Raises the revision of the unpaid payout.
        """
        await self._calls.nothing(
            "DELETE",
            ("/v2/affiliates/{affiliate_id}/destination", affiliate_id),
            query={"currency": currency},
            **options,
        )

    async def use_verified_name(
        self,
        affiliate_id: int,
        body: records.UseVerifiedNameBody,
        **options: Unpack[KeyedOptions],
    ) -> records.AffiliateDestination:
        """Use the name that the bank of the payee has. Makes `verification.bank_name` of a destination its
        account holder. IBAN and BIC stay. Like every change it raises the revision of the unpaid
        payout, and `destination_wait_hours` applies. The answer of the bank is kept, with the name that
        was replaced.
        """
        return await self._calls.record(
            "POST",
            ("/v2/affiliates/{affiliate_id}/destination/verified-name", affiliate_id),
            body=body,
            **options,
        )

    def corrections(
        self,
        *,
        page: int | None = None,
        per_page: int | None = None,
        after: str | None = None,
        sort: Literal["due_on", "-due_on", "id", "-id"] | None = None,
        status: Literal["open", "outdated", "accepted", "dismissed"] | None = None,
        payout_id: str | None = None,
        affiliate_id: int | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncListing[records.DestinationCorrection]:
        """List what banks corrected in where affiliates are paid. The notifications of change in the NACHA
        files of banks, those due first. Account numbers are shown by their last four characters.
        """
        return self._calls.listing(
            "GET",
            ("/v2/affiliates/destination-corrections",),
            query={"page": page, "per_page": per_page, "after": after, "sort": sort, "status": status, "payout_id": payout_id, "affiliate_id": affiliate_id},
            order="id",
            **options,
        )

    async def accept_correction(
        self,
        correction_id: str,
        **options: Unpack[KeyedOptions],
    ) -> records.DestinationCorrection:
        """Accept the correction of a destination. Makes the destination what the bank says. Like every
        change it raises the revision of the unpaid payout, and `destination_wait_hours` applies. The
        correction is kept.
        """
        return await self._calls.record(
            "POST",
            ("/v2/affiliates/destination-corrections/{correction_id}/accept", correction_id),
            **options,
        )

    async def dismiss_correction(
        self,
        correction_id: str,
        **options: Unpack[KeyedOptions],
    ) -> records.DestinationCorrection:
        """Dismiss the correction of a destination. Leaves the destination as it is. The correction is
        kept.
        """
        return await self._calls.record(
            "POST",
            ("/v2/affiliates/destination-corrections/{correction_id}/dismiss", correction_id),
            **options,
        )

    def notices(
        self,
        *,
        page: int | None = None,
        per_page: int | None = None,
        after: str | None = None,
        sort: Literal["created_at", "-created_at"] | None = None,
        kind: Literal["paid", "returned", "destination_changed", "form_lapsing", "agreement_ending"] | None = None,
        status: Literal["waiting", "sent", "failed"] | None = None,
        affiliate_id: int | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncListing[records.AffiliateNotice]:
        """List e-mails to affiliates. Those that wait, and those of the last week that were sent or
        failed.
        """
        return self._calls.listing(
            "GET",
            ("/v2/affiliates/notices",),
            query={"page": page, "per_page": per_page, "after": after, "sort": sort, "kind": kind, "status": status, "affiliate_id": affiliate_id},
            order="-created_at",
            **options,
        )

    async def preview_notice(
        self,
        *,
        kind: records.AffiliateNoticeKind,
        language: records.NoticeLanguage | None = None,
        **options: Unpack[CallOptions],
    ) -> records.AffiliateNoticePreview:
        """Preview an e-mail to affiliates. Shows the e-mail of a kind with example data. Sends nothing."""
        return await self._calls.record(
            "GET",
            ("/v2/affiliates/notices/preview",),
            query={"kind": kind, "language": language},
            **options,
        )

    def tax_profiles(
        self,
        *,
        page: int | None = None,
        per_page: int | None = None,
        after: str | None = None,
        sort: Literal["affiliate_id", "-affiliate_id", "legal_name", "-legal_name", "signed_on", "-signed_on"] | None = None,
        form: Literal["w9", "w8ben", "w8bene", "w8eci", "w8exp", "w8imy", "vat_registration", "other"] | None = None,
        form_status: Literal["none", "valid", "lapsing", "lapsed"] | None = None,
        self_billing_status: Literal["none", "valid", "ending", "ended"] | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncListing[records.AffiliateTaxProfile]:
        """List who affiliates are to a tax office. For example those whose form lapses at the end of this
        year. Affiliates without a tax profile are not listed.
        """
        return self._calls.listing(
            "GET",
            ("/v2/affiliates/tax-profiles",),
            query={"page": page, "per_page": per_page, "after": after, "sort": sort, "form": form, "form_status": form_status, "self_billing_status": self_billing_status},
            order="affiliate_id",
            **options,
        )

    async def tax_profile(
        self,
        affiliate_id: int,
        **options: Unpack[CallOptions],
    ) -> records.AffiliateTaxProfile:
        """Get who an affiliate is to a tax office. What the affiliate signed. The tax id is shown by its
        end.
        """
        return await self._calls.record(
            "GET",
            ("/v2/affiliates/{affiliate_id}/tax-profile", affiliate_id),
            **options,
        )

    async def put_tax_profile(
        self,
        affiliate_id: int,
        body: records.PutAffiliateTaxProfileBody,
        **options: Unpack[KeyedOptions],
    ) -> records.AffiliateTaxProfile:
        """Set who an affiliate is to a tax office. Replaces the tax profile. Only `tax_id` may be left out
        to keep the one there is. Numbers of the United States are checked by their form, VAT ids by
        their check digits too; no office is asked. `legal_type` and `country` of the affiliate stay
        what your shop says, and go for who has no tax profile. The tax id is sealed and never shown
        again but in the export of the US report.
        """
        return await self._calls.record(
            "PUT",
            ("/v2/affiliates/{affiliate_id}/tax-profile", affiliate_id),
            body=body,
            **options,
        )

    async def remove_tax_profile(self, affiliate_id: int, **options: Unpack[CallOptions]) -> None:
        """Delete who an affiliate is to a tax office."""
        await self._calls.nothing(
            "DELETE",
            ("/v2/affiliates/{affiliate_id}/tax-profile", affiliate_id),
            **options,
        )

    async def adjust(
        self,
        affiliate_id: int,
        body: records.CreateAdjustmentBody,
        **options: Unpack[KeyedOptions],
    ) -> records.Commission:
        """Credit or debit an affiliate. A commission of type adjustment, exempt from the hold; a negative
        one is taken from the next payout.
        """
        return await self._calls.record(
            "POST",
            ("/v2/affiliates/{affiliate_id}/adjustments", affiliate_id),
            body=body,
            **options,
        )


class AsyncAnalytics:
    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls

    async def commissions(
        self,
        *,
        interval: Literal["day", "week", "month"] | None = None,
        from_: str | None = None,
        to: str | None = None,
        currency: str | None = None,
        program_id: str | None = None,
        **options: Unpack[CallOptions],
    ) -> records.CommissionAnalytics:
        """Get what was earned, refunded and paid over time. Amounts and counts by currency and by day,
        week or month in the account's time zone, at most 400 intervals. Over all time, earned plus
        adjusted plus returned, less refunded, voided and paid, is what is owed.
        """
        return await self._calls.record(
            "GET",
            ("/v2/analytics/commissions",),
            query={"interval": interval, "from": from_, "to": to, "currency": currency, "program_id": program_id},
            **options,
        )

    async def deliveries(
        self,
        *,
        interval: Literal["minute", "hour", "day"] | None = None,
        from_: str | None = None,
        to: str | None = None,
        webhook_endpoint_id: str | None = None,
        owner: str | None = None,
        **options: Unpack[CallOptions],
    ) -> records.DeliveryAnalytics:
        """Get webhook deliveries over time. By minute, hour or day: published events and the status of
        their deliveries, attempts by answer, and percentiles of their durations. At most 1500 minutes,
        750 hours or 400 days. A delivery counts when its event was published, an attempt when it began.
        Counts are deleted with the log, after `WEBHOOK_RETENTION_DAYS`.
        """
        return await self._calls.record(
            "GET",
            ("/v2/analytics/deliveries",),
            query={"interval": interval, "from": from_, "to": to, "webhook_endpoint_id": webhook_endpoint_id, "owner": owner},
            **options,
        )


class AsyncPrograms:
    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls

    def list(
        self,
        *,
        page: int | None = None,
        per_page: int | None = None,
        after: str | None = None,
        sort: Literal["id", "-id", "created_at", "-created_at", "name", "-name"] | None = None,
        created_at_gte: str | None = None,
        created_at_gt: str | None = None,
        created_at_lte: str | None = None,
        created_at_lt: str | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncListing[records.Program]:
        """List programs."""
        return self._calls.listing(
            "GET",
            ("/v2/affiliates/programs",),
            query={"page": page, "per_page": per_page, "after": after, "sort": sort, "created_at[gte]": created_at_gte, "created_at[gt]": created_at_gt, "created_at[lte]": created_at_lte, "created_at[lt]": created_at_lt},
            order="id",
            **options,
        )

    async def create(
        self,
        body: records.CreateProgramBody,
        **options: Unpack[KeyedOptions],
    ) -> records.Program:
        """Create a program."""
        return await self._calls.record("POST", ("/v2/affiliates/programs",), body=body, **options)

    async def get(self, program_id: int, **options: Unpack[CallOptions]) -> records.Program:
        """Get a program."""
        return await self._calls.record(
            "GET",
            ("/v2/affiliates/programs/{program_id}", program_id),
            **options,
        )

    async def change(
        self,
        program_id: int,
        body: records.ChangeProgramBody,
        **options: Unpack[KeyedOptions],
    ) -> records.Program:
        """Change a program. A new hold applies to new commissions only."""
        return await self._calls.record(
            "PATCH",
            ("/v2/affiliates/programs/{program_id}", program_id),
            body=body,
            **options,
        )


class AsyncCommissions:
    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls

    def list(
        self,
        *,
        page: int | None = None,
        per_page: int | None = None,
        after: str | None = None,
        sort: Literal["id", "-id", "created_at", "-created_at", "occurred_at", "-occurred_at"] | None = None,
        status: Literal["pending", "unpaid", "paid", "voided"] | None = None,
        affiliate_id: int | None = None,
        program_id: int | None = None,
        has_program: bool | None = None,
        payout_id: str | None = None,
        currency: str | None = None,
        type: Literal["sale", "recurring", "bonus", "adjustment", "clawback"] | None = None,
        order_id: str | None = None,
        order_line_id: str | None = None,
        external_id: str | None = None,
        created_at_gte: str | None = None,
        created_at_gt: str | None = None,
        created_at_lte: str | None = None,
        created_at_lt: str | None = None,
        occurred_at_gte: str | None = None,
        occurred_at_gt: str | None = None,
        occurred_at_lte: str | None = None,
        occurred_at_lt: str | None = None,
        voided_at_gte: str | None = None,
        voided_at_gt: str | None = None,
        voided_at_lte: str | None = None,
        voided_at_lt: str | None = None,
        paid_at_gte: str | None = None,
        paid_at_gt: str | None = None,
        paid_at_lte: str | None = None,
        paid_at_lt: str | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncListing[records.Commission]:
        """List commissions."""
        return self._calls.listing(
            "GET",
            ("/v2/affiliates/commissions",),
            query={"page": page, "per_page": per_page, "after": after, "sort": sort, "status": status, "affiliate_id": affiliate_id, "program_id": program_id, "has_program": has_program, "payout_id": payout_id, "currency": currency, "type": type, "order_id": order_id, "order_line_id": order_line_id, "external_id": external_id, "created_at[gte]": created_at_gte, "created_at[gt]": created_at_gt, "created_at[lte]": created_at_lte, "created_at[lt]": created_at_lt, "occurred_at[gte]": occurred_at_gte, "occurred_at[gt]": occurred_at_gt, "occurred_at[lte]": occurred_at_lte, "occurred_at[lt]": occurred_at_lt, "voided_at[gte]": voided_at_gte, "voided_at[gt]": voided_at_gt, "voided_at[lte]": voided_at_lte, "voided_at[lt]": voided_at_lt, "paid_at[gte]": paid_at_gte, "paid_at[gt]": paid_at_gt, "paid_at[lte]": paid_at_lte, "paid_at[lt]": paid_at_lt},
            order="id",
            **options,
        )

    async def create(
        self,
        body: records.CommissionInput,
        **options: Unpack[KeyedOptions],
    ) -> records.Commission:
        """Create a commission. `external_id` is unique: sending the same content again answers 200 with
        the stored record. Without `amount` it is computed from `sale_amount` and `rate_bps`, rounded
        half up, so a small sale may give 0.
        """
        return await self._calls.record("POST", ("/v2/affiliates/commissions",), body=body, **options)

    async def create_many(
        self,
        body: records.CreateCommissionBatchBody,
        **options: Unpack[KeyedOptions],
    ) -> records.CommissionBatch:
        """Create up to 1,000 commissions. All or nothing; with `partial` each item separately. An item
        that breaks the schema, as with a negative amount, refuses the whole batch. Without `amount` it
        is computed from `sale_amount` and `rate_bps`, rounded half up, so a small sale may give 0.
        """
        return await self._calls.record("POST", ("/v2/affiliates/commissions/batch",), body=body, **options)

    async def import_(
        self,
        file: Upload,
        *,
        dry_run: bool | None = None,
        partial: bool | None = None,
        progress_key: str | None = None,
        **options: Unpack[KeyedOptions],
    ) -> records.CommissionImport:
        """Import commissions from CSV. Columns: external_id, affiliate_id, affiliate_external_id,
        affiliate_email, program_id, type, amount, currency, sale_amount, rate_bps, order_id,
        order_line_id, customer_email, product_id, product_name, description, occurred_at; exactly one
        of those of the affiliate. Amounts are decimal (`31.90`). Any size, one transaction: a bad line
        stops the import with nothing written, unless `partial`; `dry_run` reports every bad line and
        the sums and writes nothing. Files of another shape go to `/v2/imports`.
        """
        return await self._calls.record(
            "POST",
            ("/v2/affiliates/commissions/import",),
            query={"dry_run": dry_run, "partial": partial, "progress_key": progress_key},
            file=file,
            media="text/csv",
            **options,
        )

    async def get(self, commission_id: str, **options: Unpack[CallOptions]) -> records.Commission:
        """Get a commission."""
        return await self._calls.record(
            "GET",
            ("/v2/affiliates/commissions/{commission_id}", commission_id),
            **options,
        )

    async def void(
        self,
        commission_id: str,
        body: records.VoidCommissionBody | None = None,
        **options: Unpack[KeyedOptions],
    ) -> records.Commission:
        """Void a commission. Only a commission that is not paid; it also leaves the unpaid payout. Its
        external_id stays taken.
        """
        return await self._calls.record(
            "POST",
            ("/v2/affiliates/commissions/{commission_id}/void", commission_id),
            body=body,
            **options,
        )

    async def hold(self, commission_id: str, **options: Unpack[KeyedOptions]) -> records.Commission:
        """Hold a commission for review. The commission is pending until `unhold`, and leaves the unpaid
        payout.
        """
        return await self._calls.record(
            "POST",
            ("/v2/affiliates/commissions/{commission_id}/hold", commission_id),
            **options,
        )

    async def unhold(self, commission_id: str, **options: Unpack[KeyedOptions]) -> records.Commission:
        """End the review of a commission."""
        return await self._calls.record(
            "POST",
            ("/v2/affiliates/commissions/{commission_id}/unhold", commission_id),
            **options,
        )

    async def refund(
        self,
        commission_id: str,
        body: records.RefundCommissionBody,
        **options: Unpack[KeyedOptions],
    ) -> records.CommissionRefund:
        """Refund a commission. Refunds part of a commission, or the rest. An unpaid one is reduced, or
        voided when nothing is left, also in the unpaid payout, whose revision rises. For a paid one,
        what was paid stays paid and a negative clawback joins the next payout. Refunds by `sale_amount`
        are cumulative: together they take the commission on the total refunded, to the minor unit;
        beyond the sale they take the rest and say `capped`. Idempotent by `external_id`.
        """
        return await self._calls.record(
            "POST",
            ("/v2/affiliates/commissions/{commission_id}/refund", commission_id),
            body=body,
            **options,
        )


class AsyncRefunds:
    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls

    async def create(self, body: records.RefundOrderBody, **options: Unpack[KeyedOptions]) -> records.Refund:
        """Refund an order. For a shop's hook, which knows orders but not commissions. Without an amount it
        takes all that is left of `order_id`, or of `product_id` in it. `sale_amount` and `amount` need
        an order with one sale; `lines` say what was refunded of each. Commissions with the same
        `order_line_id` are shares of one sale; any other is a sale of its own. If a refund could belong
        to several sales, a 400 lists them. A commission that comes in later is refunded then: until
        then the refund, or a line of it, is `waiting`.
        """
        return await self._calls.record("POST", ("/v2/affiliates/refunds",), body=body, **options)

    def list(
        self,
        *,
        page: int | None = None,
        per_page: int | None = None,
        after: str | None = None,
        sort: Literal["id", "-id", "created_at", "-created_at", "occurred_at", "-occurred_at"] | None = None,
        status: Literal["waiting", "applied", "reversed"] | None = None,
        order_id: str | None = None,
        external_id: str | None = None,
        commission_id: str | None = None,
        affiliate_id: int | None = None,
        program_id: int | None = None,
        has_program: bool | None = None,
        currency: str | None = None,
        created_at_gte: str | None = None,
        created_at_gt: str | None = None,
        created_at_lte: str | None = None,
        created_at_lt: str | None = None,
        occurred_at_gte: str | None = None,
        occurred_at_gt: str | None = None,
        occurred_at_lte: str | None = None,
        occurred_at_lt: str | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncListing[records.Refund]:
        """List refunds."""
        return self._calls.listing(
            "GET",
            ("/v2/affiliates/refunds",),
            query={"page": page, "per_page": per_page, "after": after, "sort": sort, "status": status, "order_id": order_id, "external_id": external_id, "commission_id": commission_id, "affiliate_id": affiliate_id, "program_id": program_id, "has_program": has_program, "currency": currency, "created_at[gte]": created_at_gte, "created_at[gt]": created_at_gt, "created_at[lte]": created_at_lte, "created_at[lt]": created_at_lt, "occurred_at[gte]": occurred_at_gte, "occurred_at[gt]": occurred_at_gt, "occurred_at[lte]": occurred_at_lte, "occurred_at[lt]": occurred_at_lt},
            order="id",
            **options,
        )

    async def get(self, refund_id: str, **options: Unpack[CallOptions]) -> records.Refund:
        """Get a refund. By its id or its `external_id`."""
        return await self._calls.record("GET", ("/v2/affiliates/refunds/{refund_id}", refund_id), **options)

    async def reverse(self, refund_id: str, **options: Unpack[KeyedOptions]) -> records.Refund:
        """Reverse a refund. For a refund made by mistake, named by its id or its `external_id`. What it
        took is owed again, its clawbacks are voided, and what still waits for a commission is
        withdrawn. Refused once a payout was paid less because of it.
        """
        return await self._calls.record(
            "POST",
            ("/v2/affiliates/refunds/{refund_id}/reverse", refund_id),
            **options,
        )


class AsyncImports:
    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls

    async def preview(
        self,
        file: Upload,
        *,
        kind: Literal["affiliates", "commissions"],
        mapping: str | None = None,
        sheet: str | None = None,
        header_row: int | None = None,
        encoding: Literal["utf-8", "utf-16le", "utf-16be", "windows-1252"] | None = None,
        separator: Literal["comma", "semicolon", "tab", "bar"] | None = None,
        decimal: Literal["point", "comma"] | None = None,
        dates: Literal["iso", "dmy", "mdy"] | None = None,
        paid: Literal["import", "skip"] | None = None,
        values: str | None = None,
        status_columns: Literal["ignore"] | None = None,
        totals: Literal["import", "skip"] | None = None,
        progress_key: str | None = None,
        file_name: str | None = None,
        **options: Unpack[KeyedOptions],
    ) -> records.ImportPreview:
        """Look at a file before importing it. The file may be a workbook (.xlsx or .ods), or CSV in UTF-8,
        UTF-16 or Windows-1252, with commas, semicolons, tabs or bars, with columns of any name and
        order: what the request does not say is guessed from the bytes, the names of the columns and the
        values. The answer says how the file would be read, what of that was guessed, what must be
        asked, and what importing it would do. Nothing is changed.
        """
        return await self._calls.record(
            "POST",
            ("/v2/imports/preview",),
            query={"kind": kind, "mapping": mapping, "sheet": sheet, "header_row": header_row, "encoding": encoding, "separator": separator, "decimal": decimal, "dates": dates, "paid": paid, "values": values, "status_columns": status_columns, "totals": totals, "progress_key": progress_key, "file_name": file_name},
            file=file,
            media="application/octet-stream",
            **options,
        )

    async def create(
        self,
        file: Upload,
        *,
        kind: Literal["affiliates", "commissions"],
        mapping: str | None = None,
        sheet: str | None = None,
        header_row: int | None = None,
        encoding: Literal["utf-8", "utf-16le", "utf-16be", "windows-1252"] | None = None,
        separator: Literal["comma", "semicolon", "tab", "bar"] | None = None,
        decimal: Literal["point", "comma"] | None = None,
        dates: Literal["iso", "dmy", "mdy"] | None = None,
        paid: Literal["import", "skip"] | None = None,
        values: str | None = None,
        status_columns: Literal["ignore"] | None = None,
        totals: Literal["import", "skip"] | None = None,
        progress_key: str | None = None,
        file_name: str | None = None,
        dry_run: bool | None = None,
        partial: bool | None = None,
        accept_guesses: bool | None = None,
        save_as: str | None = None,
        **options: Unpack[KeyedOptions],
    ) -> records.ImportReport:
        """Import a file of any shape. The file may be a workbook (.xlsx or .ods), or CSV in UTF-8, UTF-16
        or Windows-1252, with commas, semicolons, tabs or bars, with columns of any name and order: what
        the request does not say is guessed from the bytes, the names of the columns and the values.
        Guesses are taken with `accept_guesses` only, and what could be read in two ways and is about
        money is never guessed. One transaction: a bad line stops the import with nothing written,
        unless `partial`; `dry_run` reports and writes nothing. Commissions that were paid elsewhere
        (`paid_at`) come in as paid, in past payouts without events.
        """
        return await self._calls.record(
            "POST",
            ("/v2/imports",),
            query={"kind": kind, "mapping": mapping, "sheet": sheet, "header_row": header_row, "encoding": encoding, "separator": separator, "decimal": decimal, "dates": dates, "paid": paid, "values": values, "status_columns": status_columns, "totals": totals, "progress_key": progress_key, "file_name": file_name, "dry_run": dry_run, "partial": partial, "accept_guesses": accept_guesses, "save_as": save_as},
            file=file,
            media="application/octet-stream",
            **options,
        )

    def list(
        self,
        *,
        page: int | None = None,
        per_page: int | None = None,
        after: str | None = None,
        sort: Literal["id", "-id", "created_at", "-created_at"] | None = None,
        kind: Literal["affiliates", "commissions"] | None = None,
        status: Literal["completed", "undone"] | None = None,
        created_at_gte: str | None = None,
        created_at_gt: str | None = None,
        created_at_lte: str | None = None,
        created_at_lt: str | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncListing[records.Import]:
        """List imports."""
        return self._calls.listing(
            "GET",
            ("/v2/imports",),
            query={"page": page, "per_page": per_page, "after": after, "sort": sort, "kind": kind, "status": status, "created_at[gte]": created_at_gte, "created_at[gt]": created_at_gt, "created_at[lte]": created_at_lte, "created_at[lt]": created_at_lt},
            order="id",
            **options,
        )

    async def bad_lines(
        self,
        file: Upload,
        *,
        kind: Literal["affiliates", "commissions"],
        mapping: str | None = None,
        sheet: str | None = None,
        header_row: int | None = None,
        encoding: Literal["utf-8", "utf-16le", "utf-16be", "windows-1252"] | None = None,
        separator: Literal["comma", "semicolon", "tab", "bar"] | None = None,
        decimal: Literal["point", "comma"] | None = None,
        dates: Literal["iso", "dmy", "mdy"] | None = None,
        paid: Literal["import", "skip"] | None = None,
        values: str | None = None,
        status_columns: Literal["ignore"] | None = None,
        totals: Literal["import", "skip"] | None = None,
        progress_key: str | None = None,
        file_name: str | None = None,
        **options: Unpack[KeyedOptions],
    ) -> AsyncDownload:
        """Get the bad lines of a file. As CSV: `line`, `error`, and the columns of the file; 100,000 lines
        at most. Correct them and import that file with the two columns ignored. Nothing is changed.
        """
        return await self._calls.download(
            "POST",
            ("/v2/imports/bad-lines",),
            query={"kind": kind, "mapping": mapping, "sheet": sheet, "header_row": header_row, "encoding": encoding, "separator": separator, "decimal": decimal, "dates": dates, "paid": paid, "values": values, "status_columns": status_columns, "totals": totals, "progress_key": progress_key, "file_name": file_name},
            file=file,
            media="application/octet-stream",
            **options,
        )

    async def progress(self, *, key: str, **options: Unpack[CallOptions]) -> records.ImportProgress:
        """Get how far a running import is. Of an import, its preview or its bad lines, while the request
        is being worked on, at whichever server it is. Sending the file comes before, and who sends it
        knows how far that is.
        """
        return await self._calls.record("GET", ("/v2/imports/progress",), query={"key": key}, **options)

    def mappings(
        self,
        *,
        page: int | None = None,
        per_page: int | None = None,
        after: str | None = None,
        sort: Literal["name", "-name", "updated_at", "-updated_at"] | None = None,
        kind: Literal["affiliates", "commissions"] | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncListing[records.ImportMapping]:
        """List saved mappings. A file with the header of one is read by it, unless the request says
        otherwise.
        """
        return self._calls.listing(
            "GET",
            ("/v2/imports/mappings",),
            query={"page": page, "per_page": per_page, "after": after, "sort": sort, "kind": kind},
            order="name",
            **options,
        )

    async def get(self, import_id: str, **options: Unpack[CallOptions]) -> records.Import:
        """Get an import."""
        return await self._calls.record("GET", ("/v2/imports/{import_id}", import_id), **options)

    async def undo(self, import_id: str, **options: Unpack[KeyedOptions]) -> records.Import:
        """Undo an import. Whole, or not at all: while nothing of it was paid here, refunded, returned, put
        into a payout or changed since. What is in use is named with the reason. Commissions are voided,
        count in no sum, and their external_ids are free again; past payouts and affiliates it made are
        gone; affiliates it changed are as they were before, with their destinations and tax profiles.
        An import of affiliates can be undone for as long as IMPORT_UNDO_DAYS says, a year by default.
        """
        return await self._calls.record("POST", ("/v2/imports/{import_id}/undo", import_id), **options)


class AsyncWebhookEndpoints:
    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls

    def list(
        self,
        *,
        page: int | None = None,
        per_page: int | None = None,
        after: str | None = None,
        sort: Literal["id", "-id", "created_at", "-created_at"] | None = None,
        status: Literal["enabled", "disabled"] | None = None,
        owner: str | None = None,
        external_id: str | None = None,
        created_at_gte: str | None = None,
        created_at_gt: str | None = None,
        created_at_lte: str | None = None,
        created_at_lt: str | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncListing[records.WebhookEndpoint]:
        """List webhook endpoints."""
        return self._calls.listing(
            "GET",
            ("/v2/webhook-endpoints",),
            query={"page": page, "per_page": per_page, "after": after, "sort": sort, "status": status, "owner": owner, "external_id": external_id, "created_at[gte]": created_at_gte, "created_at[gt]": created_at_gt, "created_at[lte]": created_at_lte, "created_at[lt]": created_at_lt},
            order="id",
            **options,
        )

    async def create(
        self,
        body: records.CreateWebhookEndpointBody,
        **options: Unpack[KeyedOptions],
    ) -> records.NewWebhookEndpoint:
        """Create a webhook endpoint. Events from now on are sent there. The answer shows the secret that
        signs them.
        """
        return await self._calls.record("POST", ("/v2/webhook-endpoints",), body=body, **options)

    async def get(self, id: str, **options: Unpack[CallOptions]) -> records.WebhookEndpoint:
        """Get a webhook endpoint."""
        return await self._calls.record("GET", ("/v2/webhook-endpoints/{id}", id), **options)

    async def change(
        self,
        id: str,
        body: records.ChangeWebhookEndpointBody,
        **options: Unpack[KeyedOptions],
    ) -> records.ChangedWebhookEndpoint:
        """Change, enable or disable a webhook endpoint. Events are held while the endpoint is disabled.
        When it is enabled again, all held events are sent, with a new schedule, or cancelled, as `held`
        says. Header values stay with the origin they were given for. A URL with another scheme, host or
        port drops them unless the same request sends them again, and so does another `proxy` for an
        http URL; `Payhook-Dropped-Headers` names what was dropped. `client_credentials` stay in the
        same way, dropped as `authorization`. After a change of `signing` or `secret` the signature
        before is sent too, for a day or as `second_signature` says. If the new scheme cannot use the
        secret there is and the request names none, a new one is made, and the answer shows it.
        """
        return await self._calls.record("PATCH", ("/v2/webhook-endpoints/{id}", id), body=body, **options)

    async def delete(self, id: str, **options: Unpack[CallOptions]) -> None:
        """Delete a webhook endpoint. What is still pending there ends as failed; its log stays readable
        until retention.
        """
        await self._calls.nothing("DELETE", ("/v2/webhook-endpoints/{id}", id), **options)

    async def get_by_external_id(
        self,
        external_id: str,
        **options: Unpack[CallOptions],
    ) -> records.WebhookEndpoint:
        """Get a webhook endpoint by your own id."""
        return await self._calls.record(
            "GET",
            ("/v2/webhook-endpoints/by-external-id/{external_id}", external_id),
            **options,
        )

    async def put_by_external_id(
        self,
        external_id: str,
        body: records.PutWebhookEndpointByExternalIdBody,
        **options: Unpack[KeyedOptions],
    ) -> records.ChangedWebhookEndpoint:
        """Create or configure a webhook endpoint by your own id. Creates the endpoint with this
        external_id (201, with the secret), or gives it exactly this configuration (200): absent fields
        get the value of a new endpoint, and headers that are not named are removed. `status`,
        `contact_email`, `secret` and `second_signature` stay unless they are sent. The same body again
        changes nothing. Two requests at once create one endpoint.
        """
        return await self._calls.record(
            "PUT",
            ("/v2/webhook-endpoints/by-external-id/{external_id}", external_id),
            body=body,
            **options,
        )

    async def secret(self, id: str, **options: Unpack[CallOptions]) -> records.WebhookEndpointSecret:
        """Get the secret that signs deliveries. What the receiver verifies with: the secret, or with
        `signing: ed25519` the public key. A private key is never shown. Who got it is in the audit log.
        """
        return await self._calls.record("GET", ("/v2/webhook-endpoints/{id}/secret", id), **options)

    async def rotate_secret(
        self,
        id: str,
        body: records.RotateWebhookEndpointSecretBody | None = None,
        **options: Unpack[KeyedOptions],
    ) -> records.WebhookEndpointSecret:
        """Make a new secret. Deliveries carry signatures with both secrets for a day, or for
        `overlap_seconds`. If the header of the scheme takes only one signature, the previous secret
        makes it until then.
        """
        return await self._calls.record(
            "POST",
            ("/v2/webhook-endpoints/{id}/rotate-secret", id),
            body=body,
            **options,
        )

    async def confirm_contact(self, id: str, **options: Unpack[KeyedOptions]) -> records.WebhookEndpoint:
        """Send the link that confirms the contact again. E-mails a new link to `contact_email`; earlier
        links end. Creating and changing the endpoint sends one already. At most 3 are sent to one
        address within a day.
        """
        return await self._calls.record("POST", ("/v2/webhook-endpoints/{id}/confirm-contact", id), **options)

    async def test(
        self,
        id: str,
        body: records.TestWebhookEndpointBody | None = None,
        **options: Unpack[KeyedOptions],
    ) -> records.WebhookEvent:
        """Send a test event. Sends `webhook_endpoint.test`, or an event of another type with data of
        yours, to this endpoint only, whatever it subscribed to. It is signed as any other and carries
        `"is_test": true`.
        """
        return await self._calls.record("POST", ("/v2/webhook-endpoints/{id}/test", id), body=body, **options)

    async def test_filter(
        self,
        id: str,
        body: records.TestWebhookEndpointFilterBody,
        **options: Unpack[KeyedOptions],
    ) -> records.FilterTest:
        """Try a filter on a payload. Says whether the filter matches, and of each condition what it found.
        Sends nothing and changes nothing.
        """
        return await self._calls.record(
            "POST",
            ("/v2/webhook-endpoints/{id}/test-filter", id),
            body=body,
            **options,
        )

    async def claim(
        self,
        id: str,
        body: records.ClaimWebhookEventsBody | None = None,
        **options: Unpack[KeyedOptions],
    ) -> records.WebhookClaim:
        """Claim events of a pull endpoint. Takes the first events that wait there, at most 4 MiB of them,
        for the time of a lease. Acknowledge each before its lease ends: otherwise its attempt has
        failed (`lease_expired`), and it comes again by the schedule. A key or the `token` of the
        endpoint may claim. Idempotency-Key has no effect. A token of an application also needs the
        scope affiliates for events of payouts, commissions, affiliates and imports.
        """
        return await self._calls.record(
            "POST",
            ("/v2/webhook-endpoints/{id}/claims", id),
            body=body,
            **options,
        )

    async def acknowledge(
        self,
        id: str,
        body: records.AcknowledgeWebhookEventsBody,
        **options: Unpack[KeyedOptions],
    ) -> records.WebhookAcknowledgements:
        """Acknowledge claimed events. Ends the attempts of events that were claimed. Each item has its own
        result. It may be sent again after a lost answer: acknowledging twice changes nothing.
        """
        return await self._calls.record(
            "POST",
            ("/v2/webhook-endpoints/{id}/acknowledgements", id),
            body=body,
            **options,
        )

    async def extend(
        self,
        id: str,
        body: records.ExtendWebhookLeasesBody,
        **options: Unpack[KeyedOptions],
    ) -> records.WebhookLeases:
        """Extend leases of claimed events. For a consumer that needs more time, or returns events that it
        will not process.
        """
        return await self._calls.record(
            "POST",
            ("/v2/webhook-endpoints/{id}/extensions", id),
            body=body,
            **options,
        )

    async def create_token(
        self,
        id: str,
        body: records.CreateWebhookEndpointTokenBody | None = None,
        **options: Unpack[KeyedOptions],
    ) -> records.WebhookEndpointToken:
        """Create the token of a pull endpoint. A bearer token that claims, extends and acknowledges events
        of this endpoint, and nothing else. It replaces the previous one, which stops at once or after
        `overlap_seconds`.
        """
        return await self._calls.record(
            "POST",
            ("/v2/webhook-endpoints/{id}/token", id),
            body=body,
            **options,
        )

    async def create_portal_link(
        self,
        id: str,
        body: records.CreatePortalLinkBody | None = None,
        **options: Unpack[KeyedOptions],
    ) -> records.NewPortalLink:
        """Create a link that opens a portal. The portal is the webhooks part of the dashboard for the
        receiver of this endpoint, or of all endpoints of its `owner`: settings, secret, log, test
        events and retries, and nothing else of the account. The link opens it once, for an hour, in a
        tab of its own or in a frame of a page whose origin is among the `portal_origins` of the
        account.
        """
        return await self._calls.record(
            "POST",
            ("/v2/webhook-endpoints/{id}/portal-link", id),
            body=body,
            **options,
        )

    async def recover(
        self,
        id: str,
        body: records.RecoverWebhookEndpointBody,
        **options: Unpack[KeyedOptions],
    ) -> records.WebhookRecovery:
        """Send the events of a period again. Stores a job for the workers: every event of the log that
        matches when the job reaches it is sent again, as by a retry, oldest first and a few at a time,
        so that new events do not wait. An endpoint has one at a time. A token without the scope
        affiliates must list `types` without those of payouts, commissions, affiliates and imports.
        """
        return await self._calls.record(
            "POST",
            ("/v2/webhook-endpoints/{id}/recover", id),
            body=body,
            **options,
        )

    async def discard(
        self,
        id: str,
        body: records.DiscardEventsOfWebhookEndpointBody,
        **options: Unpack[KeyedOptions],
    ) -> records.WebhookRecovery:
        """Discard the waiting events of a period. Stores a job for the workers: every pending or held
        event that matches when the job reaches it is `cancelled`. An attempt in flight is the last. A
        recovery can send cancelled events. Limits as for a recovery.
        """
        return await self._calls.record(
            "POST",
            ("/v2/webhook-endpoints/{id}/discard", id),
            body=body,
            **options,
        )

    async def preview_recovery(
        self,
        id: str,
        body: records.PreviewRecoveryOfWebhookEndpointBody,
        **options: Unpack[KeyedOptions],
    ) -> records.RecoveryPreview:
        """Count what a recovery or discard would take. Counts the events of the log that match now. Stores
        nothing.
        """
        return await self._calls.record(
            "POST",
            ("/v2/webhook-endpoints/{id}/preview-recovery", id),
            body=body,
            **options,
        )

    def recoveries(
        self,
        id: str,
        *,
        page: int | None = None,
        per_page: int | None = None,
        after: str | None = None,
        sort: Literal["id", "-id", "created_at", "-created_at"] | None = None,
        created_at_gte: str | None = None,
        created_at_gt: str | None = None,
        created_at_lte: str | None = None,
        created_at_lt: str | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncListing[records.WebhookRecovery]:
        """List the recoveries and discards of a webhook endpoint."""
        return self._calls.listing(
            "GET",
            ("/v2/webhook-endpoints/{id}/recoveries", id),
            query={"page": page, "per_page": per_page, "after": after, "sort": sort, "created_at[gte]": created_at_gte, "created_at[gt]": created_at_gt, "created_at[lte]": created_at_lte, "created_at[lt]": created_at_lt},
            order="id",
            **options,
        )

    async def recovery(
        self,
        id: str,
        recovery_id: str,
        **options: Unpack[CallOptions],
    ) -> records.WebhookRecovery:
        """Get a recovery or discard. Shows its progress and the number of queued or cancelled events."""
        return await self._calls.record(
            "GET",
            ("/v2/webhook-endpoints/{id}/recoveries/{recovery_id}", id, recovery_id),
            **options,
        )

    async def cancel_recovery(self, id: str, recovery_id: str, **options: Unpack[CallOptions]) -> None:
        """Delete a recovery or discard. Ends it: events that are queued already are still sent. The record
        stays.
        """
        await self._calls.nothing(
            "DELETE",
            ("/v2/webhook-endpoints/{id}/recoveries/{recovery_id}", id, recovery_id),
            **options,
        )

    def events(
        self,
        id: str,
        *,
        page: int | None = None,
        per_page: int | None = None,
        after: str | None = None,
        sort: Literal["id", "-id", "created_at", "-created_at"] | None = None,
        max_total: int | None = None,
        status: Literal["pending", "delivered", "failed", "cancelled", "held"] | None = None,
        type: str | None = None,
        event_id: str | None = None,
        external_id: str | None = None,
        response_status: int | None = None,
        response_class: Literal["2xx", "3xx", "4xx", "5xx", "none"] | None = None,
        error_code: str | None = None,
        created_at_gte: str | None = None,
        created_at_gt: str | None = None,
        created_at_lte: str | None = None,
        created_at_lt: str | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncListing[records.WebhookEvent]:
        """List the events of a webhook endpoint. The delivery log of one endpoint, which may be deleted."""
        return self._calls.listing(
            "GET",
            ("/v2/webhook-endpoints/{id}/events", id),
            query={"page": page, "per_page": per_page, "after": after, "sort": sort, "max_total": max_total, "status": status, "type": type, "event_id": event_id, "external_id": external_id, "response_status": response_status, "response_class": response_class, "error_code": error_code, "created_at[gte]": created_at_gte, "created_at[gt]": created_at_gt, "created_at[lte]": created_at_lte, "created_at[lt]": created_at_lt},
            order="id",
            **options,
        )

    async def event(
        self,
        id: str,
        event_id: str,
        **options: Unpack[CallOptions],
    ) -> records.WebhookEventWithAttempts:
        """Get an event of a webhook endpoint. With the payload and every attempt: its request and
        response. A token also needs the scope affiliates for events of payouts, commissions, affiliates
        and imports.
        """
        return await self._calls.record(
            "GET",
            ("/v2/webhook-endpoints/{id}/events/{event_id}", id, event_id),
            **options,
        )

    async def retry(self, id: str, event_id: str, **options: Unpack[KeyedOptions]) -> None:
        """Retry an event. Sends the event again now, whatever its status, with the same `webhook-id`. If
        an attempt is already in progress or due, that attempt counts. A failure leaves the earlier
        status and the rest of the schedule unchanged.
        """
        await self._calls.nothing(
            "POST",
            ("/v2/webhook-endpoints/{id}/events/{event_id}/retry", id, event_id),
            **options,
        )


class AsyncPortalLinks:
    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls

    def list(
        self,
        *,
        page: int | None = None,
        per_page: int | None = None,
        after: str | None = None,
        sort: Literal["id", "-id", "created_at", "-created_at"] | None = None,
        status: Literal["unused", "open", "ended", "expired", "revoked"] | None = None,
        webhook_endpoint_id: str | None = None,
        owner: str | None = None,
        created_at_gte: str | None = None,
        created_at_gt: str | None = None,
        created_at_lte: str | None = None,
        created_at_lt: str | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncListing[records.PortalLink]:
        """List portal links. Links that were used, revoked or not opened in time stay in the list for a
        month.
        """
        return self._calls.listing(
            "GET",
            ("/v2/portal-links",),
            query={"page": page, "per_page": per_page, "after": after, "sort": sort, "status": status, "webhook_endpoint_id": webhook_endpoint_id, "owner": owner, "created_at[gte]": created_at_gte, "created_at[gt]": created_at_gt, "created_at[lte]": created_at_lte, "created_at[lt]": created_at_lt},
            order="id",
            **options,
        )

    async def revoke(self, link_id: str, **options: Unpack[CallOptions]) -> None:
        """Delete a portal link. Revokes it: the link can no longer be opened, and a portal that it opened
        ends at once, on every server process.
        """
        await self._calls.nothing("DELETE", ("/v2/portal-links/{link_id}", link_id), **options)


class AsyncWebhookEvents:
    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls

    def list(
        self,
        *,
        page: int | None = None,
        per_page: int | None = None,
        after: str | None = None,
        sort: Literal["id", "-id", "created_at", "-created_at"] | None = None,
        max_total: int | None = None,
        status: Literal["pending", "delivered", "failed", "cancelled", "held"] | None = None,
        type: str | None = None,
        event_id: str | None = None,
        external_id: str | None = None,
        response_status: int | None = None,
        response_class: Literal["2xx", "3xx", "4xx", "5xx", "none"] | None = None,
        error_code: str | None = None,
        created_at_gte: str | None = None,
        created_at_gt: str | None = None,
        created_at_lte: str | None = None,
        created_at_lt: str | None = None,
        webhook_endpoint_id: str | None = None,
        tag: str | None = None,
        owner: str | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncListing[records.WebhookEvent]:
        """List all webhook events. The delivery log of the account: an event has a row for each endpoint
        it is sent to.
        """
        return self._calls.listing(
            "GET",
            ("/v2/webhook-events/",),
            query={"page": page, "per_page": per_page, "after": after, "sort": sort, "max_total": max_total, "status": status, "type": type, "event_id": event_id, "external_id": external_id, "response_status": response_status, "response_class": response_class, "error_code": error_code, "created_at[gte]": created_at_gte, "created_at[gt]": created_at_gt, "created_at[lte]": created_at_lte, "created_at[lt]": created_at_lt, "webhook_endpoint_id": webhook_endpoint_id, "tag": tag, "owner": owner},
            order="id",
            **options,
        )


class AsyncEvents:
    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls

    def list(
        self,
        *,
        page: int | None = None,
        per_page: int | None = None,
        after: str | None = None,
        sort: Literal["id", "-id", "created_at", "-created_at"] | None = None,
        max_total: int | None = None,
        type: str | None = None,
        external_id: str | None = None,
        owner: str | None = None,
        tag: str | None = None,
        created_at_gte: str | None = None,
        created_at_gt: str | None = None,
        created_at_lte: str | None = None,
        created_at_lt: str | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncListing[records.PublishedEvent]:
        """List published events. Each event once, whatever number of endpoints got it, as long as the log
        is kept. The log itself is at `/v2/webhook-events/`. With `sort=created_at` the list misses
        nothing: it ends before the oldest transaction that publishes, so no event appears later in
        front of one that was returned. To read every event once, repeat a page until it has `next`, and
        continue there.
        """
        return self._calls.listing(
            "GET",
            ("/v2/events",),
            query={"page": page, "per_page": per_page, "after": after, "sort": sort, "max_total": max_total, "type": type, "external_id": external_id, "owner": owner, "tag": tag, "created_at[gte]": created_at_gte, "created_at[gt]": created_at_gt, "created_at[lte]": created_at_lte, "created_at[lt]": created_at_lt},
            order="id",
            **options,
        )

    async def publish(self, body: records.PublishEventBody, **options: Unpack[KeyedOptions]) -> records.Event:
        """Publish an event of your own. Delivers the event to the endpoints that subscribe to its type, or
        to those of one `owner`. Sending it again under the same `external_id` returns 200 with the
        stored event. Types that begin with one of our own prefixes are refused.
        """
        return await self._calls.record("POST", ("/v2/events",), body=body, **options)

    async def publish_many(
        self,
        body: records.PublishEventBatchBody,
        **options: Unpack[KeyedOptions],
    ) -> records.EventBatch:
        """Publish up to 1,000 events of your own. All or nothing, at most 16 MiB. Ordered endpoints get
        the events of a key in the order of the list. An event that was published before under its
        `external_id`, or occurs earlier in the list, is returned with status 200. More are sent in
        several requests, one after the other, each all or nothing. A key `k` then becomes `k-0`, `k-1`
        and so on.
        """
        return joined(
            [
                await self._calls.record("POST", ("/v2/events/batch",), body=part, **given)
                for part, given in requests_of(body, options)
            ]
        )

    async def get(self, event_id: str, **options: Unpack[CallOptions]) -> records.PublishedEventWhole:
        """Get an event and its deliveries. With the payload, its record at each endpoint that got it, and
        the reason why the other current endpoints did not. A token also needs the scope affiliates for
        events of payouts, commissions, affiliates and imports.
        """
        return await self._calls.record("GET", ("/v2/events/{event_id}", event_id), **options)

    def types(
        self,
        *,
        page: int | None = None,
        per_page: int | None = None,
        after: str | None = None,
        sort: Literal["type", "-type"] | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncListing[records.EventType]:
        """List the types of events. The types that Payhook publishes, and your own. A portal gets those of
        your own that its link offers.
        """
        return self._calls.listing(
            "GET",
            ("/v2/event-types",),
            query={"page": page, "per_page": per_page, "after": after, "sort": sort},
            order="type",
            **options,
        )

    async def type(self, type: str, **options: Unpack[CallOptions]) -> records.EventType:
        """Get a type of event."""
        return await self._calls.record("GET", ("/v2/event-types/{type}", type), **options)

    async def put_type(
        self,
        type: str,
        body: records.PutEventTypeBody,
        **options: Unpack[KeyedOptions],
    ) -> records.EventType:
        """Create or replace an event type of your own. Fields that are left out get their default. Events
        of the type are checked against `data_schema` if the account has `event_validation`, from the
        next request on. At most 200 types. Types that begin with one of our own prefixes are refused.
        """
        return await self._calls.record("PUT", ("/v2/event-types/{type}", type), body=body, **options)

    async def delete_type(self, type: str, **options: Unpack[CallOptions]) -> None:
        """Delete an event type of your own. Events of the type are still published and sent, unchecked."""
        await self._calls.nothing("DELETE", ("/v2/event-types/{type}", type), **options)


class AsyncMe:
    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls

    async def get(self, **options: Unpack[CallOptions]) -> records.Me:
        """Get who asks. The credential of the request: who it is, what it may do, and in which account. A
        page of this server that calls the API with the session of its user reads the CSRF token here;
        pages of other origins cannot read the answer.
        """
        return await self._calls.record("GET", ("/v2/me",), **options)

    def sessions(
        self,
        *,
        page: int | None = None,
        per_page: int | None = None,
        after: str | None = None,
        sort: Literal["id", "-id", "created_at", "-created_at", "last_seen_at", "-last_seen_at"] | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncListing[records.OwnSession]:
        """List your sessions. The browsers in which the signed-in person is signed in, in all their
        accounts. Other people’s sessions are in `listSessions`.
        """
        return self._calls.listing(
            "GET",
            ("/v2/me/sessions",),
            query={"page": page, "per_page": per_page, "after": after, "sort": sort},
            order="id",
            **options,
        )

    async def delete_other_sessions(self, **options: Unpack[CallOptions]) -> None:
        """Delete your other sessions. Signs the person out of every session but the one of this request,
        in all their accounts.
        """
        await self._calls.nothing("DELETE", ("/v2/me/sessions",), **options)

    async def delete_session(self, session_id: str, **options: Unpack[CallOptions]) -> None:
        """Delete one of your sessions. That browser is signed out at its next request. It may be a session
        in another of your accounts.
        """
        await self._calls.nothing("DELETE", ("/v2/me/sessions/{session_id}", session_id), **options)


class AsyncActors:
    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls

    async def get(self, *, ids: str, **options: Unpack[CallOptions]) -> records.Actors:
        """Get the names of who did something. Records say with an id who made, approved or paid them. This
        returns whose ids these are: people, also those who were removed, API keys, applications and
        portal links. An id of nobody in the account is left out.
        """
        return await self._calls.record("GET", ("/v2/actors",), query={"ids": ids}, **options)


class AsyncAlerts:
    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls

    async def get(
        self,
        *,
        user_id: str | None = None,
        **options: Unpack[CallOptions],
    ) -> records.AlertSettings:
        """Get the e-mail alerts of a user. Every kind of alert, and whether the user gets it by e-mail."""
        return await self._calls.record("GET", ("/v2/alerts",), query={"user_id": user_id}, **options)

    async def set(
        self,
        body: records.SetAlertSettingsBody,
        *,
        user_id: str | None = None,
        **options: Unpack[KeyedOptions],
    ) -> records.AlertSettings:
        """Choose the e-mail alerts of a user. Alerts within a minute are sent in one e-mail, and at most 6
        e-mails in an hour; the next one has everything that came meanwhile.
        """
        return await self._calls.record(
            "PUT",
            ("/v2/alerts",),
            query={"user_id": user_id},
            body=body,
            **options,
        )

    async def test(self, *, user_id: str | None = None, **options: Unpack[KeyedOptions]) -> records.AlertTest:
        """Send a test alert to a user. It is sent to the e-mail address of the user within seconds;
        `getAlertSettings` shows the result.
        """
        return await self._calls.record("POST", ("/v2/alerts/test",), query={"user_id": user_id}, **options)


class AsyncAlertChannels:
    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls

    def list(
        self,
        *,
        page: int | None = None,
        per_page: int | None = None,
        after: str | None = None,
        sort: Literal["id", "-id", "created_at", "-created_at", "name", "-name"] | None = None,
        created_at_gte: str | None = None,
        created_at_gt: str | None = None,
        created_at_lte: str | None = None,
        created_at_lt: str | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncListing[records.AlertChannel]:
        """List alert channels."""
        return self._calls.listing(
            "GET",
            ("/v2/alert-channels",),
            query={"page": page, "per_page": per_page, "after": after, "sort": sort, "created_at[gte]": created_at_gte, "created_at[gt]": created_at_gt, "created_at[lte]": created_at_lte, "created_at[lt]": created_at_lt},
            order="id",
            **options,
        )

    async def create(
        self,
        body: records.CreateAlertChannelBody,
        **options: Unpack[KeyedOptions],
    ) -> records.NewAlertChannel:
        """Create an alert channel. A webhook or Slack channel that receives the alerts that users get by
        e-mail. The URL may lead to the same hosts as those of webhook endpoints.
        """
        return await self._calls.record("POST", ("/v2/alert-channels",), body=body, **options)

    async def get(self, channel_id: str, **options: Unpack[CallOptions]) -> records.AlertChannel:
        """Get an alert channel."""
        return await self._calls.record("GET", ("/v2/alert-channels/{channel_id}", channel_id), **options)

    async def change(
        self,
        channel_id: str,
        body: records.ChangeAlertChannelBody,
        **options: Unpack[KeyedOptions],
    ) -> records.AlertChannel:
        """Change an alert channel. The secret of a webhook stays the same."""
        return await self._calls.record(
            "PATCH",
            ("/v2/alert-channels/{channel_id}", channel_id),
            body=body,
            **options,
        )

    async def delete(self, channel_id: str, **options: Unpack[CallOptions]) -> None:
        """Delete an alert channel. Alerts that still wait to be sent there are dropped."""
        await self._calls.nothing("DELETE", ("/v2/alert-channels/{channel_id}", channel_id), **options)

    async def test(self, channel_id: str, **options: Unpack[KeyedOptions]) -> records.AlertTest:
        """Send a test to an alert channel. It is sent within seconds; `last_sent_at` and `last_error` of
        the channel show the result.
        """
        return await self._calls.record(
            "POST",
            ("/v2/alert-channels/{channel_id}/test", channel_id),
            **options,
        )


class AsyncSystem:
    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls

    async def get(self, **options: Unpack[CallOptions]) -> records.System:
        """Get the state of the installation. For whoever runs the server: keys and owners of the account
        that was made first. Version, schema, database, disk, what waits to be delivered, when each
        chore was last done, the last backup, the replica, and the cells. The backlog and the alerts are
        sums of all cells that can be reached; without a note to the contrary, the rest is of cell 0.
        """
        return await self._calls.record("GET", ("/v2/system",), **options)


class AsyncAccount:
    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls

    async def get(self, **options: Unpack[CallOptions]) -> records.Account:
        """Get the account and its settings."""
        return await self._calls.record("GET", ("/v2/account",), **options)

    async def change(
        self,
        body: records.ChangeAccountBody,
        **options: Unpack[KeyedOptions],
    ) -> records.Account:
        """Change settings of the account. A new hold applies to new commissions only; minimums apply from
        the next payout on. A new time zone changes what days mean from now on, and changes no stored
        instant.
        """
        return await self._calls.record("PATCH", ("/v2/account",), body=body, **options)


class AsyncApiKeys:
    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls

    def list(
        self,
        *,
        page: int | None = None,
        per_page: int | None = None,
        after: str | None = None,
        sort: Literal["id", "-id", "created_at", "-created_at", "name", "-name", "last_used_at", "-last_used_at"] | None = None,
        status: Literal["active", "revoked"] | None = None,
        created_at_gte: str | None = None,
        created_at_gt: str | None = None,
        created_at_lte: str | None = None,
        created_at_lt: str | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncListing[records.ApiKey]:
        """List API keys."""
        return self._calls.listing(
            "GET",
            ("/v2/api-keys",),
            query={"page": page, "per_page": per_page, "after": after, "sort": sort, "status": status, "created_at[gte]": created_at_gte, "created_at[gt]": created_at_gt, "created_at[lte]": created_at_lte, "created_at[lt]": created_at_lt},
            order="id",
            **options,
        )

    async def create(
        self,
        body: records.CreateApiKeyBody,
        **options: Unpack[KeyedOptions],
    ) -> records.NewApiKey:
        """Create an API key. The secret is shown in this answer only. Any key grants full access to the
        account.
        """
        return await self._calls.record("POST", ("/v2/api-keys",), body=body, **options)

    async def revoke(self, key_id: str, **options: Unpack[CallOptions]) -> None:
        """Delete an API key. Revokes it: it stops working at once, on every server process. The record
        stays.
        """
        await self._calls.nothing("DELETE", ("/v2/api-keys/{key_id}", key_id), **options)


class AsyncUsers:
    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls

    def list(
        self,
        *,
        page: int | None = None,
        per_page: int | None = None,
        after: str | None = None,
        sort: Literal["id", "-id", "created_at", "-created_at", "name", "-name", "email", "-email"] | None = None,
        status: Literal["active", "invited", "removed"] | None = None,
        role: Literal["owner", "member", "finance", "approver", "viewer"] | None = None,
        email: str | None = None,
        created_at_gte: str | None = None,
        created_at_gt: str | None = None,
        created_at_lte: str | None = None,
        created_at_lt: str | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncListing[records.User]:
        """List users. Removed users are listed only with `status=removed`."""
        return self._calls.listing(
            "GET",
            ("/v2/users",),
            query={"page": page, "per_page": per_page, "after": after, "sort": sort, "status": status, "role": role, "email": email, "created_at[gte]": created_at_gte, "created_at[gt]": created_at_gt, "created_at[lte]": created_at_lte, "created_at[lt]": created_at_lt},
            order="id",
            **options,
        )

    async def create(self, body: records.CreateUserBody, **options: Unpack[KeyedOptions]) -> records.NewUser:
        """Invite a user. Pass on `invitation_url`, which works once, for 7 days; where the server sends
        e-mail (`is_emailed`), the user gets it too. There the user joins with the password they already
        have on this server from another account, or chooses a new one. The answer does not reveal
        which.
        """
        return await self._calls.record("POST", ("/v2/users",), body=body, **options)

    async def get(self, user_id: str, **options: Unpack[CallOptions]) -> records.User:
        """Get a user. Removed users can be read too."""
        return await self._calls.record("GET", ("/v2/users/{user_id}", user_id), **options)

    async def change(
        self,
        user_id: str,
        body: records.ChangeUserBody,
        **options: Unpack[KeyedOptions],
    ) -> records.User:
        """Change the name or the role of a user. A new role applies from the next request. What an owner
        granted to applications ends when they become a member or a viewer, and does not come back with
        the role.
        """
        return await self._calls.record("PATCH", ("/v2/users/{user_id}", user_id), body=body, **options)

    async def delete(self, user_id: str, **options: Unpack[CallOptions]) -> None:
        """Delete a user. Sessions in this account, links and grants end at once; other accounts of the
        same person are not affected. What the user did stays attributed to them: `getUser` still
        answers.
        """
        await self._calls.nothing("DELETE", ("/v2/users/{user_id}", user_id), **options)

    async def erase(self, user_id: str, **options: Unpack[KeyedOptions]) -> records.User:
        """Erase the person behind a user. Name, e-mail address, and the browsers and addresses they signed
        in from are removed permanently. A user who is still there is removed first. The record and its
        id stay, so what they did stays attributed to it. Other accounts of the same person are not
        affected.
        """
        return await self._calls.record("POST", ("/v2/users/{user_id}/erase", user_id), **options)

    async def reset_password(self, user_id: str, **options: Unpack[KeyedOptions]) -> records.PasswordReset:
        """Make a link to choose a new password. The link works once, for a day. For a user who has not
        accepted the invitation it is a new one, for 7 days. The old password works until the link is
        used; then all sessions end. Somebody who is also a member of another account must change the
        password themselves or use a link from the operator, because it opens both accounts.
        """
        return await self._calls.record("POST", ("/v2/users/{user_id}/reset-password", user_id), **options)


class AsyncSessions:
    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls

    def list(
        self,
        *,
        page: int | None = None,
        per_page: int | None = None,
        after: str | None = None,
        sort: Literal["id", "-id", "created_at", "-created_at", "last_seen_at", "-last_seen_at"] | None = None,
        user_id: str | None = None,
        created_at_gte: str | None = None,
        created_at_gt: str | None = None,
        created_at_lte: str | None = None,
        created_at_lt: str | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncListing[records.Session]:
        """List the sessions of users who are signed in. Sessions end 7 days after they were last used, and
        30 days after they began.
        """
        return self._calls.listing(
            "GET",
            ("/v2/sessions",),
            query={"page": page, "per_page": per_page, "after": after, "sort": sort, "user_id": user_id, "created_at[gte]": created_at_gte, "created_at[gt]": created_at_gt, "created_at[lte]": created_at_lte, "created_at[lt]": created_at_lt},
            order="id",
            **options,
        )

    async def end(self, session_id: str, **options: Unpack[CallOptions]) -> None:
        """Delete a session. Signs the user out at once, on every server process."""
        await self._calls.nothing("DELETE", ("/v2/sessions/{session_id}", session_id), **options)


class AsyncAuditLog:
    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls

    def list(
        self,
        *,
        page: int | None = None,
        per_page: int | None = None,
        after: str | None = None,
        sort: Literal["id", "-id", "created_at", "-created_at"] | None = None,
        actor_kind: Literal["key", "user", "application", "operator", "portal"] | None = None,
        actor_id: str | None = None,
        action: str | None = None,
        target: str | None = None,
        created_at_gte: str | None = None,
        created_at_gt: str | None = None,
        created_at_lte: str | None = None,
        created_at_lt: str | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncListing[records.AuditEntry]:
        """List what was done, and by whom. Every change by a person, a key or an application, written with
        the change; entries are never changed. Commissions and events that programs send in are not
        listed here: they have records of their own.
        """
        return self._calls.listing(
            "GET",
            ("/v2/audit-log",),
            query={"page": page, "per_page": per_page, "after": after, "sort": sort, "actor_kind": actor_kind, "actor_id": actor_id, "action": action, "target": target, "created_at[gte]": created_at_gte, "created_at[gt]": created_at_gt, "created_at[lte]": created_at_lte, "created_at[lt]": created_at_lt},
            order="id",
            **options,
        )


class AsyncOauthApplications:
    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls

    def list(
        self,
        *,
        page: int | None = None,
        per_page: int | None = None,
        after: str | None = None,
        sort: Literal["id", "-id", "created_at", "-created_at", "name", "-name"] | None = None,
        kind: Literal["confidential", "public"] | None = None,
        created_at_gte: str | None = None,
        created_at_gt: str | None = None,
        created_at_lte: str | None = None,
        created_at_lt: str | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncListing[records.OAuthApplication]:
        """List OAuth applications."""
        return self._calls.listing(
            "GET",
            ("/v2/oauth-applications",),
            query={"page": page, "per_page": per_page, "after": after, "sort": sort, "kind": kind, "created_at[gte]": created_at_gte, "created_at[gt]": created_at_gt, "created_at[lte]": created_at_lte, "created_at[lt]": created_at_lt},
            order="id",
            **options,
        )

    async def create(
        self,
        body: records.CreateOAuthApplicationBody,
        **options: Unpack[KeyedOptions],
    ) -> records.NewOAuthApplication:
        """Register an OAuth application. Merchants of this server can then grant it access. Its secret is
        shown in this answer only.
        """
        return await self._calls.record("POST", ("/v2/oauth-applications",), body=body, **options)

    async def get(self, application_id: str, **options: Unpack[CallOptions]) -> records.OAuthApplication:
        """Get an OAuth application."""
        return await self._calls.record(
            "GET",
            ("/v2/oauth-applications/{application_id}", application_id),
            **options,
        )

    async def change(
        self,
        application_id: str,
        body: records.ChangeOAuthApplicationBody,
        **options: Unpack[KeyedOptions],
    ) -> records.OAuthApplication:
        """Change an OAuth application. The kind cannot be changed. Removed scopes can no longer be
        granted; existing grants keep them.
        """
        return await self._calls.record(
            "PATCH",
            ("/v2/oauth-applications/{application_id}", application_id),
            body=body,
            **options,
        )

    async def delete(self, application_id: str, **options: Unpack[CallOptions]) -> None:
        """Delete an OAuth application. All grants to it end at once, in every account."""
        await self._calls.nothing(
            "DELETE",
            ("/v2/oauth-applications/{application_id}", application_id),
            **options,
        )

    async def rotate_secret(
        self,
        application_id: str,
        **options: Unpack[KeyedOptions],
    ) -> records.NewOAuthApplication:
        """Make a new client secret. The old secret stops working at once; tokens stay valid."""
        return await self._calls.record(
            "POST",
            ("/v2/oauth-applications/{application_id}/rotate-secret", application_id),
            **options,
        )


class AsyncOauthGrants:
    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls

    def list(
        self,
        *,
        page: int | None = None,
        per_page: int | None = None,
        after: str | None = None,
        sort: Literal["id", "-id", "created_at", "-created_at", "last_used_at", "-last_used_at"] | None = None,
        status: Literal["active", "revoked"] | None = None,
        application_id: str | None = None,
        created_at_gte: str | None = None,
        created_at_gt: str | None = None,
        created_at_lte: str | None = None,
        created_at_lt: str | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncListing[records.OAuthGrant]:
        """List what was granted to applications."""
        return self._calls.listing(
            "GET",
            ("/v2/oauth-grants",),
            query={"page": page, "per_page": per_page, "after": after, "sort": sort, "status": status, "application_id": application_id, "created_at[gte]": created_at_gte, "created_at[gt]": created_at_gt, "created_at[lte]": created_at_lte, "created_at[lt]": created_at_lt},
            order="id",
            **options,
        )

    async def get(self, grant_id: str, **options: Unpack[CallOptions]) -> records.OAuthGrant:
        """Get a grant."""
        return await self._calls.record("GET", ("/v2/oauth-grants/{grant_id}", grant_id), **options)

    async def revoke(self, grant_id: str, **options: Unpack[CallOptions]) -> None:
        """Delete a grant. Revokes it: its tokens stop working at once, on every server process."""
        await self._calls.nothing("DELETE", ("/v2/oauth-grants/{grant_id}", grant_id), **options)


class AsyncResources:
    """Every operation of the API, by resource."""

    def __init__(self, calls: AsyncCalls) -> None:
        self.payouts = AsyncPayouts(calls)
        self.payout_schedules = AsyncPayoutSchedules(calls)
        self.invoices = AsyncInvoices(calls)
        self.reports = AsyncReports(calls)
        self.affiliates = AsyncAffiliates(calls)
        self.analytics = AsyncAnalytics(calls)
        self.programs = AsyncPrograms(calls)
        self.commissions = AsyncCommissions(calls)
        self.refunds = AsyncRefunds(calls)
        self.imports = AsyncImports(calls)
        self.webhook_endpoints = AsyncWebhookEndpoints(calls)
        self.portal_links = AsyncPortalLinks(calls)
        self.webhook_events = AsyncWebhookEvents(calls)
        self.events = AsyncEvents(calls)
        self.me = AsyncMe(calls)
        self.actors = AsyncActors(calls)
        self.alerts = AsyncAlerts(calls)
        self.alert_channels = AsyncAlertChannels(calls)
        self.system = AsyncSystem(calls)
        self.account = AsyncAccount(calls)
        self.api_keys = AsyncApiKeys(calls)
        self.users = AsyncUsers(calls)
        self.sessions = AsyncSessions(calls)
        self.audit_log = AsyncAuditLog(calls)
        self.oauth_applications = AsyncOauthApplications(calls)
        self.oauth_grants = AsyncOauthGrants(calls)
