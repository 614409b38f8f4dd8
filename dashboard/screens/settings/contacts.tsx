import { useState } from 'react';
import type { Account } from '../../../src/client/api.ts';
import { useWrite } from '../../data/queries.ts';
import { Checkbox, SelectField, TextField } from '../../parts/field.tsx';
import { toast } from '../../parts/toast.tsx';
import { notices } from '../../texts/notices.ts';
import { SettingsForm } from './frame.tsx';
import { languages } from './languages.ts';

const texts = notices.contacts;

/** The e-mails to the contacts of webhook endpoints. */
export function ContactForm({ settings }: { settings: Account['contact_notices'] }) {
  const saving = useWrite('changeAccount');
  const [isOn, setOn] = useState(settings !== null);
  const [portal, setPortal] = useState(settings?.portal_url ?? '');
  const [language, setLanguage] = useState(settings?.language ?? 'en');
  const [reply, setReply] = useState(settings?.reply_to ?? '');
  const save = () => {
    const chosen = { portal_url: portal.trim() || null, language, reply_to: reply.trim() || null };
    const body = { contact_notices: isOn ? chosen : null };
    saving.mutate({ body }, { onSuccess: () => toast(texts.saved) });
  };
  return (
    <SettingsForm title={texts.title} action={texts.save} saving={saving} onSave={save}>
      <Checkbox label={texts.on} isChecked={isOn} onChange={setOn} />
      <p className="hint">{texts.onHint}</p>
      {isOn && (
        <>
          <TextField
            label={texts.portal}
            hint={texts.portalHint}
            type="url"
            value={portal}
            onChange={setPortal}
            isOptional
          />
          <SelectField label={texts.language} value={language} options={languages} onChange={setLanguage} />
          <TextField
            label={texts.reply}
            hint={notices.replyHint}
            type="email"
            value={reply}
            onChange={setReply}
            isOptional
          />
        </>
      )}
    </SettingsForm>
  );
}
