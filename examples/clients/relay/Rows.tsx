import { useEffect } from 'react';
import { show } from '../page.js';

/** A list on the page. An effect runs once React has put its items there. */
export function Rows({ rows }: { rows: readonly string[] }) {
  useEffect(() => show('triggers', rows));
  return (
    <ul>
      {rows.map((row) => (
        <li key={row}>{row}</li>
      ))}
    </ul>
  );
}
