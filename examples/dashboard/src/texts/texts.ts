import { createContext, useContext } from 'react';
import { de } from './de.js';
import { en, type Texts } from './en.js';

const languages: Readonly<Record<string, Texts>> = { en, de };

/** The browser's language where there are texts in it, else English. */
export const languageOfBrowser = (): string =>
  navigator.languages.map((tag) => tag.slice(0, 2)).find((tag) => tag in languages) ?? 'en';

export const LanguageContext = createContext('en');

export function useTexts(): Texts {
  return languages[useContext(LanguageContext)] ?? en;
}
