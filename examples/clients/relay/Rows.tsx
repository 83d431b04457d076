import { useEffect } from 'react';
import { show } from '../page.js';

/** A list on the page. An effect runs once React has put its items there. */
export function Rows({ part, rows }: { part: 'triggers' | 'batteries'; rows: readonly string[] }) {
  useEffect(() => show(part, rows));
  return (
    <ul>
      {rows.map((row) => (
        <li key={row}>{row}</li>
      ))}
    </ul>
  );
}
