/** The class `Resolver` of `node:dns`, once with callbacks and once with promises. */

/** Returns a class with these methods. It uses the name servers of the host, and its options have no effect. */
export const makeResolver = (methods: object) => {
  class Resolver {
    cancel(): void {}
  }
  Object.assign(Resolver.prototype, methods)
  return Resolver
}
