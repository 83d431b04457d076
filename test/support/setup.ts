import { afterAll } from 'vitest';
import { cleanUp } from './clean-up.js';

afterAll(cleanUp);
