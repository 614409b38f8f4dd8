import { type FormEvent, useState } from 'react';
import { session } from '../data/session.ts';
import { Button } from '../parts/button.tsx';
import { TextField } from '../parts/field.tsx';
import { Dialog } from '../parts/overlay.tsx';
import { common } from '../texts/common.ts';

const texts = common.session;

/** A sign-in over a screen whose session has expired: input is kept, and pending requests continue afterwards. */
export function SignInAgain({ email: known }: { email: string }) {
  const [email, setEmail] = useState(known);
  const [password, setPassword] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    const wrong = await session.signIn(email, password);
    setBusy(false);
    setProblem(wrong === null ? null : texts[wrong]);
  };
  return (
    <Dialog title={texts.title} onClose={() => window.location.assign('/sign-in')}>
      <form onSubmit={(event) => void submit(event)}>
        <p className="soft">{texts.lead}</p>
        <TextField
          label={texts.email}
          type="email"
          autoComplete="username"
          value={email}
          onChange={setEmail}
          hasFocus={known === ''}
        />
        <TextField
          label={texts.password}
          type="password"
          autoComplete="current-password"
          value={password}
          onChange={setPassword}
          problem={problem}
          hasFocus={known !== ''}
        />
        <div className="buttons">
          <Button type="submit" kind="primary" isBusy={isBusy}>
            {texts.submit}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
