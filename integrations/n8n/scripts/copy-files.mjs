// Puts beside the compiled files what the compiler leaves out: the icons, and the project's license.
import { cpSync } from 'node:fs';

const folder = new URL('../', import.meta.url);
cpSync(new URL('icons', folder), new URL('dist/icons', folder), { recursive: true });
cpSync(new URL('../../LICENSE', folder), new URL('LICENSE', folder));
