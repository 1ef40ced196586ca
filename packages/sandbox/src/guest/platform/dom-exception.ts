/** `DOMException`: the error of the platform's APIs if no ECMAScript error fits. */
import { brand, defineConstants } from "./define.ts"

const codes: Readonly<Record<string, number>> = {
  IndexSizeError: 1,
  HierarchyRequestError: 3,
  WrongDocumentError: 4,
  InvalidCharacterError: 5,
  NoModificationAllowedError: 7,
  NotFoundError: 8,
  NotSupportedError: 9,
  InUseAttributeError: 10,
  InvalidStateError: 11,
  SyntaxError: 12,
  InvalidModificationError: 13,
  NamespaceError: 14,
  InvalidAccessError: 15,
  TypeMismatchError: 17,
  SecurityError: 18,
  NetworkError: 19,
  AbortError: 20,
  URLMismatchError: 21,
  QuotaExceededError: 22,
  TimeoutError: 23,
  InvalidNodeTypeError: 24,
  DataCloneError: 25
}

const captureStack: unknown = Reflect.get(Error, "captureStackTrace")

export class DOMException implements Error {
  readonly #name: string
  readonly #message: string
  readonly #code: number
  declare readonly stack?: string

  constructor(message: string = "", options: string | { readonly name?: string; readonly cause?: unknown } = "Error") {
    const isName = typeof options !== "object" || options === null
    this.#message = `${message}`
    this.#name = isName ? `${options}` : `${options.name ?? "Error"}`
    this.#code = codes[this.#name] ?? 0
    if (!isName && "cause" in options) {
      Object.defineProperty(this, "cause", { value: options.cause, writable: true, configurable: true })
    }
    if (typeof captureStack === "function") {
      Reflect.apply(captureStack, Error, [this, DOMException])
    }
  }

  get name(): string {
    return this.#name
  }
  get message(): string {
    return this.#message
  }
  get code(): number {
    return this.#code
  }
}

// An instance of `Error`, whose class does not inherit from `Error`.
Object.setPrototypeOf(DOMException.prototype, Error.prototype)

/** Names of the constants, whose values count from 1. */
const constants =
  "INDEX_SIZE DOMSTRING_SIZE HIERARCHY_REQUEST WRONG_DOCUMENT INVALID_CHARACTER NO_DATA_ALLOWED NO_MODIFICATION_ALLOWED NOT_FOUND NOT_SUPPORTED INUSE_ATTRIBUTE INVALID_STATE SYNTAX INVALID_MODIFICATION NAMESPACE INVALID_ACCESS VALIDATION TYPE_MISMATCH SECURITY NETWORK ABORT URL_MISMATCH QUOTA_EXCEEDED TIMEOUT INVALID_NODE_TYPE DATA_CLONE"

brand({ DOMException })
for (const [index, name] of constants.split(" ").entries()) {
  defineConstants(DOMException, { [`${name}_ERR`]: index + 1 })
  defineConstants(DOMException.prototype, { [`${name}_ERR`]: index + 1 })
}
