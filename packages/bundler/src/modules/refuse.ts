/** Features of Node that functions do not have. Using one throws an error that says what to use instead. */

/** Error of a feature of Node that does not exist in functions. */
export class NotInFunctions extends Error {
  readonly code = "ERR_METHOD_NOT_IMPLEMENTED"
}

const remedies: Readonly<Record<string, string>> = {
  child_process: "a host function can start programs",
  cluster: "Weft runs functions in parallel",
  dgram: "functions send no datagrams; use TCP (`node:net`) or `fetch`",
  fs: "`svc.files` stores files, and `svc.asset` reads those of the build",
  http: "export a webhook to receive requests",
  http2: "use `fetch`",
  inspector: "`weft dev` prints logs and stacks",
  worker_threads: "`svc.call` runs a function in parallel"
}

/** Returns the error for a feature such as `net.connect`. */
export const notInFunctions = (feature: string, instead?: string): NotInFunctions => {
  const remedy = instead ?? remedies[feature.split(".")[0] ?? ""]
  const tail = remedy === undefined ? "" : `: ${remedy}`
  return new NotInFunctions(`${feature} is not available in functions${tail}`)
}

/** Returns a function, or class, that throws when it is called. */
export const refuse = (feature: string, instead?: string) =>
  function refused(): never {
    throw notInFunctions(feature, instead)
  }

/** Returns a module whose members throw when they are called. */
export const refusedModule = (name: string, members: Readonly<Record<string, unknown>> = {}): object =>
  new Proxy(Object.assign(Object.create(null), members), {
    get: (target, member) => {
      if (typeof member === "symbol" || member === "then" || member === "__esModule" || member === "default") {
        return Reflect.get(target, member)
      }
      if (!Reflect.has(target, member)) Reflect.set(target, member, refuse(`${name}.${member}`))
      return Reflect.get(target, member)
    }
  })
