// Reads NACHA files with github.com/moov-io/ach, for the tests: each file named is a line of JSON, with what it pays or why it
// is refused. With "days FROM TO" it lists the days on which the Federal Reserve is closed, but for weekends.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/moov-io/ach"
	"github.com/moov-io/base"
)

type payment struct {
	Class     string `json:"class"`
	Reference string `json:"reference"`
	Amount    int    `json:"amount"`
	Name      string `json:"name"`
	Routing   string `json:"routing"`
	Number    string `json:"number"`
	Code      int    `json:"code"`
	Trace     string `json:"trace"`
	// of a return or a notification of change
	Returned  string             `json:"returned,omitempty"`
	Changed   string             `json:"changed,omitempty"`
	Original  string             `json:"original,omitempty"`
	Corrected *ach.CorrectedData `json:"corrected,omitempty"`
}

type answer struct {
	Error     string    `json:"error,omitempty"`
	Credit    int       `json:"credit"`
	Debit     int       `json:"debit"`
	Effective string    `json:"effective"`
	Payments  []payment `json:"payments"`
}

func read(path string) answer {
	input, err := os.Open(path)
	if err != nil {
		return answer{Error: err.Error()}
	}
	defer input.Close()
	file, err := ach.NewReader(input).Read()
	if err == nil {
		err = file.Validate()
	}
	if err != nil {
		return answer{Error: err.Error()}
	}
	found := answer{Credit: file.Control.TotalCreditEntryDollarAmountInFile, Debit: file.Control.TotalDebitEntryDollarAmountInFile}
	for _, batch := range file.Batches {
		header := batch.GetHeader()
		found.Effective = header.EffectiveEntryDate
		for _, entry := range batch.GetEntries() {
			one := payment{
				Class:     header.StandardEntryClassCode,
				Reference: strings.TrimSpace(entry.IdentificationNumber),
				Amount:    entry.Amount,
				Name:      strings.TrimSpace(entry.IndividualName),
				Routing:   entry.RDFIIdentification + entry.CheckDigit,
				Number:    strings.TrimSpace(entry.DFIAccountNumber),
				Code:      entry.TransactionCode,
				Trace:     entry.TraceNumber,
			}
			if back := entry.Addenda99; back != nil {
				one.Returned, one.Original = back.ReturnCode, back.OriginalTrace
			}
			if change := entry.Addenda98; change != nil {
				one.Changed, one.Original, one.Corrected = change.ChangeCode, change.OriginalTrace, change.ParseCorrectedData()
			}
			found.Payments = append(found.Payments, one)
		}
	}
	return found
}

func closedDays(from, to string) []string {
	day, _ := time.Parse(time.DateOnly, from)
	last, _ := time.Parse(time.DateOnly, to)
	var closed []string
	for ; !day.After(last); day = day.AddDate(0, 0, 1) {
		known := base.NewTime(day)
		if !known.IsWeekend() && !known.IsBankingDay() {
			closed = append(closed, day.Format(time.DateOnly))
		}
	}
	return closed
}

func main() {
	output := json.NewEncoder(os.Stdout)
	if len(os.Args) == 4 && os.Args[1] == "days" {
		output.Encode(closedDays(os.Args[2], os.Args[3]))
		return
	}
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: ach FILE… | ach days FROM TO")
		os.Exit(2)
	}
	for _, path := range os.Args[1:] {
		output.Encode(read(path))
	}
}
