/** Modules that the build does not contain. */

/** Returns the error that Node throws for a module that does not exist. */
export const notFound = (message: string): Error => Object.assign(new Error(message), { code: "MODULE_NOT_FOUND" })

/** Returns a module whose members throw when they are called. */
export const leftOutModule = (message: string): object =>
  new Proxy(Object.create(null), {
    get: (target, member) => {
      if (typeof member === "symbol" || member === "then" || member === "__esModule") return undefined
      const member_ =
        Reflect.get(target, member) ??
        function leftOut(): never {
          throw notFound(message)
        }
      Reflect.set(target, member, member_)
      return member_
    }
  })
