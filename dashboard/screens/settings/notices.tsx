import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import type { Account, AffiliateNoticeKind, NoticeLanguage } from '../../../src/client/api.ts';
import { useRead, useWrite } from '../../data/queries.ts';
import { Code } from '../../parts/code.tsx';
import { Notice, Problem, Skeleton } from '../../parts/feedback.tsx';
import { Checkbox, optionsOf, SelectField, TextField } from '../../parts/field.tsx';
import { Card, Facts } from '../../parts/page.tsx';
import { toast } from '../../parts/toast.tsx';
import { Name } from '../../parts/values.tsx';
import { notices as texts } from '../../texts/notices.ts';
import { ContactForm } from './contacts.tsx';
import { Settings, SettingsForm } from './frame.tsx';
import { languages } from './languages.ts';
import './settings.css';

const KINDS = Object.keys(texts.kinds) as AffiliateNoticeKind[];
const route = getRouteApi('/settings/notices');

/** /settings/notices: the e-mails to affiliates, and to contacts of webhook endpoints. */
export function NoticeSettings() {
  const { data: account, error, refetch } = useRead('getAccount', {});
  return (
    <Settings part="notices" lead={texts.lead}>
      {error && <Problem error={error} onRetry={() => void refetch()} />}
      {account === undefined ? (
        !error && <Skeleton lines={6} />
      ) : (
        <>
          <NoticeForm settings={account.affiliate_notices} />
          <Preview language={account.affiliate_notices?.language ?? 'en'} />
          <ContactForm settings={account.contact_notices} />
        </>
      )}
    </Settings>
  );
}

function NoticeForm({ settings }: { settings: Account['affiliate_notices'] }) {
  const saving = useWrite('changeAccount');
  const [chosen, setChosen] = useState<readonly AffiliateNoticeKind[]>(settings?.kinds ?? []);
  const [language, setLanguage] = useState(settings?.language ?? 'en');
  const [reply, setReply] = useState(settings?.reply_to ?? '');
  const save = () => {
    const notices = { kinds: chosen, language, reply_to: reply.trim() || null };
    const body = { affiliate_notices: chosen.length === 0 ? null : notices };
    saving.mutate({ body }, { onSuccess: () => toast(texts.saved) });
  };
  const choose = (kind: AffiliateNoticeKind, isChecked: boolean) =>
    setChosen(KINDS.filter((each) => (each === kind ? isChecked : chosen.includes(each))));
  return (
    <SettingsForm
      title={texts.sent}
      action={texts.save}
      saving={saving}
      note={<Notice>{texts.readOnly}</Notice>}
      onSave={save}
    >
      <ul className="alert-kinds">
        {KINDS.map((kind) => (
          <li key={kind}>
            <Checkbox
              label={texts.kinds[kind]}
              isChecked={chosen.includes(kind)}
              onChange={(isChecked) => choose(kind, isChecked)}
            />
            <p className="hint">{texts.meanings[kind]}</p>
          </li>
        ))}
      </ul>
      <SelectField
        label={texts.language}
        hint={texts.languageHint}
        value={language}
        options={languages}
        onChange={setLanguage}
      />
      <TextField
        label={texts.reply}
        hint={texts.replyHint}
        type="email"
        value={reply}
        onChange={setReply}
        isOptional
      />
    </SettingsForm>
  );
}

/** Every e-mail in every language, made by the server as it sends it. */
function Preview({ language: own }: { language: NoticeLanguage }) {
  const { kind = 'paid', language = own } = route.useSearch();
  const navigate = route.useNavigate();
  const query = { kind, language };
  const { data, error, refetch } = useRead('previewAffiliateNotice', { query }, { keepsPrevious: true });
  const show = (next: Partial<typeof query>) =>
    void navigate({ search: { ...query, ...next }, replace: true });
  return (
    <div className="settings-form">
      <Card title={texts.preview}>
        <p className="soft">{texts.previewLead}</p>
        <SelectField
          label={texts.kind}
          value={kind}
          options={optionsOf(KINDS, texts.kinds)}
          onChange={(next) => show({ kind: next })}
        />
        <SelectField
          label={texts.previewLanguage}
          value={language}
          options={languages}
          onChange={(next) => show({ language: next })}
        />
        {error && <Problem error={error} onRetry={() => void refetch()} />}
        {data === undefined ? (
          !error && <Skeleton lines={6} />
        ) : (
          <div className="notice-preview">
            {!data.is_email_sent && <Notice tone="warn">{texts.off}</Notice>}
            <Facts
              rows={[
                [texts.from, <Name key="from">{data.from_name}</Name>],
                [texts.answers, data.reply_to ?? texts.toSender],
                [texts.subject, <Name key="subject">{data.subject}</Name>],
              ]}
            />
            <Code label={texts.text}>{data.text}</Code>
          </div>
        )}
      </Card>
    </div>
  );
}
