import { stringify } from 'yaml';

/** The description at `/v1/openapi.yaml` (key-scoped §1). */
export function openapiYaml(): string {
  return stringify({
    openapi: '3.1.0',
    info: { title: 'Read-Only Project Data API', version: '1' },
    paths: {},
  });
}
