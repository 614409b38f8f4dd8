import java.lang.System;
import java.util.List;
import org.openapitools.client.ApiClient;
import org.openapitools.client.api.AffiliatesApi;
import org.openapitools.client.api.CommissionsApi;
import org.openapitools.client.api.PayoutsApi;
import org.openapitools.client.model.*;

/** Ten calls through the client that openapi-generator generates. */
public class Main {
  public static void main(String[] args) throws Exception {
    ApiClient client = new ApiClient().setBasePath(System.getenv("PAYHOOK_URL"));
    client.setBearerToken(System.getenv("PAYHOOK_API_KEY"));
    AffiliatesApi affiliates = new AffiliatesApi(client);
    CommissionsApi commissions = new CommissionsApi(client);
    PayoutsApi payouts = new PayoutsApi(client);
    String email = "java@example.com";

    Affiliate affiliate = affiliates.createAffiliate(new CreateAffiliateBody().email(email)).execute();
    SepaDestination sepa = new SepaDestination()
        .type(SepaDestination.TypeEnum.SEPA).accountHolder("Ada Lovelace").iban("DE89370400440532013000");
    AffiliateDestination destination =
        affiliates.putAffiliateDestination(affiliate.getId(), new PutAffiliateDestinationBody(sepa)).execute();
    CommissionByAffiliateId byId = new CommissionByAffiliateId().affiliateId(affiliate.getId());
    byId.externalId("java-1").amount(5000L).currency("eur");
    commissions.createCommission(new CommissionInput(byId)).execute();
    CommissionByAffiliateEmail byEmail = new CommissionByAffiliateEmail().affiliateEmail(email);
    byEmail.externalId("java-2").amount(5000L).currency("eur");
    commissions.createCommission(new CommissionInput(byEmail)).execute();
    CommissionList list = commissions.listCommissions().affiliateId(affiliate.getId()).execute();
    PayoutFilters filters = new PayoutFilters()
        .currency(new PayoutFiltersCurrency("eur"))
        .affiliateId(new PayoutFiltersAffiliateId(affiliate.getId()));
    Payout payout = payouts.createPayout().payoutSelection(new PayoutSelection().filters(filters)).execute();
    Payout current = payouts.getCurrentPayout().execute();
    CompletePayoutBodyCommissionsInner entry = new CompletePayoutBodyCommissionsInner()
        .affiliateId(affiliate.getId().doubleValue()).isPaid(true);
    CompletedPayout completed =
        payouts.completePayout(payout.getId(), new CompletePayoutBody().commissions(List.of(entry))).execute();
    AffiliateWithBalance paid = affiliates.getAffiliate(affiliate.getId()).execute();
    int removed = affiliates.deleteAffiliateDestination(affiliate.getId()).executeWithHttpInfo().getStatusCode();
    System.out.println(String.join(" ", destination.getType().getValue(), list.getPagination().getTotal().toString(),
        current.getTotals().get(0).getAmount().toString(), completed.getStatus().getValue(), paid.getEmail(),
        String.valueOf(removed)));
  }
}
