/** A failure by docs/interfaces.md C7. Only `invalid_request` is a documented code. */
export class CatalogueFailure extends Error {
  readonly status: number;
  readonly code: string;
  readonly details: object;

  constructor(status: number, code: string, message: string, details: object = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
  }
}
