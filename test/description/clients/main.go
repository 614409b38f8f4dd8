// Ten calls through the client that oapi-codegen generates.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"

	"shop/payhook"
)

// must returns the body of a success; it ends the program otherwise.
func must[Body any](body *Body, answer string, err error) Body {
	if err != nil {
		panic(err)
	}
	if body == nil {
		panic(answer)
	}
	return *body
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	ctx := context.Background()
	authorize := func(_ context.Context, request *http.Request) error {
		request.Header.Set("authorization", "Bearer "+os.Getenv("PAYHOOK_API_KEY"))
		return nil
	}
	client, err := payhook.NewClientWithResponses(os.Getenv("PAYHOOK_URL"), payhook.WithRequestEditorFn(authorize))
	check(err)
	email, currency, amount := "go@example.com", payhook.Currency("eur"), int64(5000)

	a, err := client.CreateAffiliateWithResponse(ctx, nil, payhook.CreateAffiliateBody{Email: email})
	affiliate := must(a.JSON201, string(a.Body), err)

	var where payhook.PutAffiliateDestinationBody
	check(where.FromSepaDestination(payhook.SepaDestination{AccountHolder: "Ada Lovelace", Iban: "DE89370400440532013000"}))
	d, err := client.PutAffiliateDestinationWithResponse(ctx, affiliate.Id, nil, where)
	destination := must(d.JSON200, string(d.Body), err)

	var byId, byEmail payhook.CommissionInput
	check(byId.FromCommissionByAffiliateId(payhook.CommissionByAffiliateId{
		ExternalId: "go-1", AffiliateId: affiliate.Id, Amount: &amount, Currency: &currency,
	}))
	check(byEmail.FromCommissionByAffiliateEmail(payhook.CommissionByAffiliateEmail{
		ExternalId: "go-2", AffiliateEmail: email, Amount: &amount, Currency: &currency,
	}))
	for _, input := range []payhook.CommissionInput{byId, byEmail} {
		c, err := client.CreateCommissionWithResponse(ctx, nil, input)
		must(c.JSON201, string(c.Body), err)
	}
	l, err := client.ListCommissionsWithResponse(ctx, &payhook.ListCommissionsParams{AffiliateId: &affiliate.Id})
	commissions := must(l.JSON200, string(l.Body), err)

	filters := payhook.PayoutFilters{Currency: &payhook.PayoutFilters_Currency{}, AffiliateId: &payhook.PayoutFilters_AffiliateId{}}
	check(filters.Currency.FromCurrency(currency))
	check(filters.AffiliateId.FromPayoutFiltersAffiliateId1([]int64{affiliate.Id}))
	p, err := client.CreatePayoutWithResponse(ctx, nil, payhook.PayoutSelection{Filters: &filters})
	payout := must(p.JSON201, string(p.Body), err)
	u, err := client.GetCurrentPayoutWithResponse(ctx)
	current := must(u.JSON200, string(u.Body), err)

	var completion payhook.CompletePayoutBody
	completion.Commissions = append(completion.Commissions, struct {
		AffiliateId      float64           `json:"affiliate_id"`
		Amount           *int64            `json:"amount,omitempty"`
		Currency         *payhook.Currency `json:"currency,omitempty"`
		IsPaid           bool              `json:"is_paid"`
		PaymentReference *string           `json:"payment_reference,omitempty"`
	}{AffiliateId: float64(affiliate.Id), IsPaid: true})
	o, err := client.CompletePayoutWithResponse(ctx, payout.Id, nil, completion)
	completed := must(o.JSON200, string(o.Body), err)

	g, err := client.GetAffiliateWithResponse(ctx, affiliate.Id)
	paid := must(g.JSON200, string(g.Body), err)
	r, err := client.DeleteAffiliateDestinationWithResponse(ctx, affiliate.Id, nil)
	check(err)
	fmt.Println(destination.Type, commissions.Pagination.Total, current.Totals[0].Amount, completed.Status, paid.Email, r.StatusCode())
}
