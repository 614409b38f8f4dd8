import { useState } from 'react';
import type {
  CustomSigning,
  SignatureAlgorithm,
  SignatureEncoding,
  SigningScheme,
  WebhookEndpoint,
} from '../../../src/client/api.ts';
import { useWrite } from '../../data/queries.ts';
import { serverNow } from '../../data/server-time.ts';
import { Button, IconButton } from '../../parts/button.tsx';
import { optionsOf, SelectField, TextField } from '../../parts/field.tsx';
import { Confirm } from '../../parts/overlay.tsx';
import { signing as texts } from '../../texts/signing.ts';

const SCHEMES = Object.keys(texts.schemes) as SigningScheme[];
const ENCODINGS = ['hex', 'base64'] as const;
const ALGORITHMS = ['sha256', 'sha512', 'sha1'] as const;
/** How long the previous signature is also sent after a change, in seconds. */
const OVERLAPS = ['86400', '3600', '604800', '2592000', '0'] as const;

interface Custom {
  readonly header: string;
  readonly content: string;
  readonly value: string;
  readonly encoding: SignatureEncoding;
  readonly algorithm: SignatureAlgorithm;
  readonly secret_prefix: string;
  /** Further headers; in the API they are an object. */
  readonly headers: readonly FurtherHeader[];
}

interface FurtherHeader {
  readonly name: string;
  readonly value: string;
}

const MOST_HEADERS = 5;

const CUSTOM: Custom = {
  header: 'x-signature',
  content: '{timestamp}.{body}',
  value: 't={timestamp},v0={signature}',
  encoding: 'hex',
  algorithm: 'sha256',
  secret_prefix: '',
  headers: [],
};

/** Converts a custom scheme between the form and the API. */
const inForm = ({ headers, ...custom }: CustomSigning): Custom => ({
  ...custom,
  headers: Object.entries(headers).map(([name, value]) => ({ name, value })),
});
const forApi = ({ headers, ...custom }: Custom) => ({
  ...custom,
  headers: Object.fromEntries(
    headers.flatMap(({ name, value }) => (name.trim() === '' ? [] : [[name.trim(), value]])),
  ),
});

/** Changes the signature scheme of an endpoint, and how long the previous signature is also sent. */
export function ChangeSigning({
  endpoint: { id, signing, custom_signing },
  onClose,
  onChanged,
}: {
  endpoint: WebhookEndpoint;
  onClose: () => void;
  /** `newSecret` was created by the change; null = a replayed answer, which omits it; undefined = none was created. */
  onChanged: (newSecret: string | null | undefined) => void;
}) {
  const [scheme, setScheme] = useState<SigningScheme>(signing);
  const [custom, setCustom] = useState<Custom>(custom_signing ? inForm(custom_signing) : CUSTOM);
  const [secret, setSecret] = useState('');
  const [overlap, setOverlap] = useState<(typeof OVERLAPS)[number]>('86400');
  const saving = useWrite('changeWebhookEndpoint');
  const save = () => {
    const seconds = Number(overlap);
    const body = {
      signing: scheme,
      ...(scheme === 'custom' ? { custom_signing: forApi(custom) } : {}),
      ...(secret.trim() === '' ? {} : { secret: secret.trim() }),
      second_signature:
        seconds === 0 ? null : { expires_at: new Date(serverNow() + seconds * 1000).toISOString() },
    };
    saving.mutate({ path: [id], body }, { onSuccess: ({ secret: made }) => onChanged(made) });
  };
  const isSame = scheme === signing && scheme !== 'custom' && secret.trim() === '';
  return (
    <Confirm
      title={texts.change}
      action={texts.action}
      isBusy={saving.isPending}
      isDisabled={isSame}
      error={saving.error}
      onClose={onClose}
      onConfirm={save}
    >
      <SelectField
        label={texts.scheme}
        hint={texts.hints[scheme]}
        value={scheme}
        options={optionsOf(SCHEMES, texts.schemes)}
        onChange={setScheme}
      />
      {scheme === 'custom' && (
        <CustomFields custom={custom} onChange={(next) => setCustom({ ...custom, ...next })} />
      )}
      <TextField
        label={texts.secret}
        hint={texts.secretHint}
        value={secret}
        onChange={setSecret}
        isOptional
      />
      <SelectField
        label={texts.overlap}
        hint={texts.overlapHint}
        value={overlap}
        options={optionsOf(OVERLAPS, texts.overlaps)}
        onChange={setOverlap}
      />
    </Confirm>
  );
}

function CustomFields({ custom, onChange }: { custom: Custom; onChange: (next: Partial<Custom>) => void }) {
  const { header, content, value, encoding, algorithm, secret_prefix, headers } = custom;
  return (
    <>
      <TextField label={texts.header} value={header} onChange={(next) => onChange({ header: next })} />
      <TextField
        label={texts.content}
        hint={texts.contentHint}
        value={content}
        onChange={(next) => onChange({ content: next })}
      />
      <TextField
        label={texts.value}
        hint={texts.valueHint}
        value={value}
        onChange={(next) => onChange({ value: next })}
      />
      <FurtherHeaders headers={headers} onChange={(next) => onChange({ headers: next })} />
      <div className="form-grid">
        <SelectField
          label={texts.encoding}
          value={encoding}
          options={ENCODINGS.map((each) => ({ value: each, label: each }))}
          onChange={(next) => onChange({ encoding: next })}
        />
        <SelectField
          label={texts.algorithm}
          value={algorithm}
          options={ALGORITHMS.map((each) => ({ value: each, label: `HMAC-${each.toUpperCase()}` }))}
          onChange={(next) => onChange({ algorithm: next })}
        />
      </div>
      <TextField
        label={texts.prefix}
        value={secret_prefix}
        onChange={(next) => onChange({ secret_prefix: next })}
        isOptional
      />
    </>
  );
}

function FurtherHeaders({
  headers,
  onChange,
}: {
  headers: readonly FurtherHeader[];
  onChange: (headers: readonly FurtherHeader[]) => void;
}) {
  const write = (at: number, next: Partial<FurtherHeader>) =>
    onChange(headers.map((each, index) => (index === at ? { ...each, ...next } : each)));
  return (
    <fieldset className="own-headers">
      <legend>{texts.headers}</legend>
      <p className="hint">{texts.headersHint}</p>
      {headers.map(({ name, value }, at) => (
        <div className="form-grid" key={at}>
          <TextField label={texts.furtherName} value={name} onChange={(next) => write(at, { name: next })} />
          <TextField
            label={texts.furtherValue}
            value={value}
            onChange={(next) => write(at, { value: next })}
          />
          <IconButton
            icon="trash"
            label={texts.removeHeader(name)}
            onPress={() => onChange(headers.filter((_, index) => index !== at))}
          />
        </div>
      ))}
      {headers.length < MOST_HEADERS && (
        <Button icon="plus" onPress={() => onChange([...headers, { name: '', value: '{timestamp}' }])}>
          {texts.addHeader}
        </Button>
      )}
    </fieldset>
  );
}
