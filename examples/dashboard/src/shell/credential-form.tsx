import { useState } from 'react';
import type { Credentials } from '../data/session.js';
import { useTexts } from '../texts/texts.js';
import { useTitle } from './title.js';

interface CredentialFormProps {
  /** Whether the gateway has refused what was sent. */
  readonly isRefused: boolean;
  readonly onSend: (credentials: Credentials) => void;
}

export function CredentialForm({ isRefused, onSend }: CredentialFormProps) {
  const texts = useTexts();
  const [isEmpty, setEmpty] = useState(false);
  useTitle(texts.refused);
  const fault = isEmpty ? texts.credentialMissing : isRefused ? texts.credentialRefused : null;
  return (
    <form
      className="card credential"
      onSubmit={(event) => {
        event.preventDefault();
        const values = new FormData(event.currentTarget);
        const textOf = (name: string) => String(values.get(name) ?? '').trim();
        const token = textOf('token').replace(/^Bearer\s+/i, '');
        const catalogueKey = textOf('catalogueKey');
        setEmpty(token === '' && catalogueKey === '');
        if (token || catalogueKey) onSend({ authorization: token && `Bearer ${token}`, catalogueKey });
      }}
    >
      <h1>{texts.credentialTitle}</h1>
      <p className="muted">{texts.credentialNote}</p>
      {fault && (
        <p className="problem" role="alert">
          {fault}
        </p>
      )}
      <label>
        {texts.authorization}
        <input name="token" type="password" autoComplete="off" aria-describedby="token-hint" />
      </label>
      <p id="token-hint" className="muted hint">
        {texts.authorizationHint}
      </p>
      <label>
        {texts.catalogueKey}
        <input name="catalogueKey" type="password" autoComplete="off" aria-describedby="catalogue-key-hint" />
      </label>
      <p id="catalogue-key-hint" className="muted hint">
        {texts.catalogueKeyHint}
      </p>
      <button type="submit">{texts.send}</button>
    </form>
  );
}
