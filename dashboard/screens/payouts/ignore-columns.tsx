import { type FormEvent, useState } from 'react';
import { Button } from '../../parts/button.tsx';
import { TextField } from '../../parts/field.tsx';
import { Card } from '../../parts/page.tsx';
import { Name } from '../../parts/values.tsx';
import { payouts } from '../../texts/payouts.ts';

const texts = payouts.answers.ignoreColumns;

/** Asks which columns of a refused list say nothing about payments. */
export function IgnoreColumns({
  file,
  onIgnore,
}: {
  file: File;
  /** Receives the names, separated by commas. */
  onIgnore: (columns: string) => void;
}) {
  const [columns, setColumns] = useState('');
  const given = columns.trim();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (given !== '') onIgnore(given);
  };
  return (
    <Card title={texts.title}>
      <form onSubmit={submit}>
        <p className="soft form-lead">
          {texts.lead} <Name>{file.name}</Name>
        </p>
        <TextField
          label={texts.columns}
          hint={texts.hint}
          value={columns}
          maxLength={1000}
          onChange={setColumns}
        />
        <div className="buttons">
          <Button type="submit" isDisabled={given === ''}>
            {texts.action}
          </Button>
        </div>
      </form>
    </Card>
  );
}
