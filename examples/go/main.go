// Command first_call prints the account, what it owes, and its affiliates.
//
//	cd examples/go
//	PAYHOOK_API_KEY=$(cat ../../data/first-api-key) go run .
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"

	"payhook"
)

func run(ctx context.Context) error {
	address := cmp.Or(os.Getenv("PAYHOOK_URL"), "http://127.0.0.1:8080")
	client, err := payhook.New(address, payhook.Bearer(os.Getenv("PAYHOOK_API_KEY")))
	if err != nil {
		return err
	}
	account, err := client.Account.Get(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("%s pays in %s\n", account.Name, account.DefaultCurrency)
	preview, err := client.Payouts.Preview(ctx, nil)
	if err != nil {
		return err
	}
	for _, total := range preview.Totals {
		// amounts are minor units: 3190 is 31.90 USD
		fmt.Printf("owed now: %d %s to %d affiliates\n", total.Amount, total.Currency, total.AffiliateCount)
	}
	for affiliate, err := range client.Affiliates.All(ctx, &payhook.ListAffiliatesQuery{Status: "active"}) {
		if err != nil {
			return err
		}
		fmt.Println(affiliate.ID, affiliate.Email)
	}
	return nil
}

func main() {
	err := run(context.Background())
	if refused := (*payhook.APIError)(nil); errors.As(err, &refused) {
		fmt.Fprintf(os.Stderr, "refused (%s): %s\n", refused.Reason, refused.Message)
	} else if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if err != nil {
		os.Exit(1)
	}
}
