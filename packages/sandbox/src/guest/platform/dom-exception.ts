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

export class DOMException extends Error {
  readonly #name: string

  constructor(message: string = "", options: string | { readonly name?: string; readonly cause?: unknown } = "Error") {
    super(String(message))
    const isName = typeof options !== "object" || options === null
    this.#name = isName ? String(options) : String(options.name ?? "Error")
    if (!isName && "cause" in options) {
      Object.defineProperty(this, "cause", { value: options.cause, writable: true, configurable: true })
    }
  }

  // "Error" on the prototype itself, and while the engine captures the stack.
  override get name(): string {
    return #name in this ? this.#name : "Error"
  }

  get code(): number {
    return codes[this.name] ?? 0
  }
}

brand({ DOMException })
for (const [name, code] of Object.entries(codes)) {
  const constant =
    name
      .replace(/Error$/, "")
      .replace(/(?<=[a-z])(?=[A-Z])/g, "_")
      .toUpperCase() + "_ERR"
  defineConstants(DOMException, { [constant]: code })
  defineConstants(DOMException.prototype, { [constant]: code })
}
