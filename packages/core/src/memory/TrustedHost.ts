/** `svc.host` of a trusted function. Any name may be called; the host rejects unknown ones. */

export type TrustedHost = HostInvoker & HostNames

/** Calls the host function of the accumulated name. */
type HostInvoker = (input?: unknown) => Promise<unknown>

interface HostNames {
  readonly [segment: string]: TrustedHost
}

/** Makes a proxy, on which `svc.host.crm.lookup(input)` calls `crm.lookup`. */
export const trustedHost = (call: (name: string, input: unknown) => Promise<unknown>, name = ""): TrustedHost => {
  const invoke: HostInvoker = (input) => call(name, input)
  const names: HostNames = {}
  return new Proxy(Object.assign(invoke, names), {
    get: (target, segment) =>
      // The language reads these, and the properties of every function.
      typeof segment === "symbol" || segment === "then" || segment === "toJSON" || segment in target
        ? Reflect.get(target, segment)
        : trustedHost(call, name === "" ? segment : `${name}.${segment}`)
  })
}
