import { useState } from 'react';
import { leave } from '../../data/leave.ts';
import { useMay, useMe } from '../../data/me.ts';
import { Button } from '../../parts/button.tsx';
import { Command } from '../../parts/copy.tsx';
import { Notice } from '../../parts/feedback.tsx';
import { Confirm } from '../../parts/overlay.tsx';
import { Card } from '../../parts/page.tsx';
import { home } from '../../texts/home.ts';

const texts = home.demo;

/** Offers an owner an account with example data, or the one they have. */
export function DemoOffer() {
  const may = useMay();
  const me = useMe().data;
  const [isLeaving, setLeaving] = useState(false);
  if (!may.people || me === undefined) return null;
  const hasOne = me.accounts.some(({ is_demo }) => is_demo);
  const go = () => {
    setLeaving(true);
    leave('/account/demo');
  };
  return (
    <Card title={texts.title}>
      <p className="soft form-lead">{texts.lead}</p>
      <div className="offer">
        <Button kind="primary" isBusy={isLeaving} onPress={go}>
          {hasOne ? texts.open : isLeaving ? texts.creating : texts.create}
        </Button>
        <Command>{texts.command}</Command>
      </div>
    </Card>
  );
}

/** Says that the account is a demo, with a button to delete it. */
export function DemoBanner() {
  const may = useMay();
  const me = useMe().data;
  const [isAsking, setAsking] = useState(false);
  const [isLeaving, setLeaving] = useState(false);
  if (!me?.account.is_demo) return null;
  const end = () => {
    setLeaving(true);
    leave('/account/demo/delete');
  };
  return (
    <Notice
      actions={may.people ? <Button onPress={() => setAsking(true)}>{texts.delete}</Button> : undefined}
    >
      <p>{texts.banner}</p>
      {isAsking && (
        <Confirm
          title={texts.delete}
          action={texts.delete}
          isDangerous
          isBusy={isLeaving}
          onClose={() => setAsking(false)}
          onConfirm={end}
        >
          <p>{texts.deleteLead}</p>
        </Confirm>
      )}
    </Notice>
  );
}
