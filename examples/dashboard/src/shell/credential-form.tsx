import type { Credentials } from '../data/session.js';
import { useTexts } from '../texts/texts.js';

export function CredentialForm({ onSend }: { readonly onSend: (credentials: Credentials) => void }) {
  const texts = useTexts();
  return (
    <form
      className="card credential"
      onSubmit={(event) => {
        event.preventDefault();
        const values = new FormData(event.currentTarget);
        const textOf = (name: string) => String(values.get(name) ?? '').trim();
        const token = textOf('token').replace(/^Bearer\s+/i, '');
        onSend({ authorization: token && `Bearer ${token}`, catalogueKey: textOf('catalogueKey') });
      }}
    >
      <h1>{texts.credentialTitle}</h1>
      <p className="muted">{texts.credentialNote}</p>
      <label>
        {texts.authorization}
        <input name="token" type="password" autoComplete="off" />
      </label>
      <label>
        {texts.catalogueKey}
        <input name="catalogueKey" type="password" autoComplete="off" />
      </label>
      <button type="submit">{texts.send}</button>
    </form>
  );
}
