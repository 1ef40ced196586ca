/**
 * Defines globals, and gives classes the look of platform classes.
 *
 * Names are set explicitly, because the bundle is minified and guests print `constructor.name`.
 */

/** Marks prototypes of platform classes: their instances are not plain data to `structuredClone`. */
const platformObject: unique symbol = Symbol("platform object")

/** Key of the method with which an object formats itself for `console`; the same as in Node. */
export const inspectCustom: unique symbol = Symbol.for("nodejs.util.inspect.custom")

type Constructor = { readonly prototype: object }

const setName = (value: object, name: string): void => {
  Object.defineProperty(value, "name", { value: name, configurable: true })
}

/** Gives platform classes their public names and `Symbol.toStringTag`. */
export const brand = (classes: Readonly<Record<string, Constructor>>): void => {
  for (const [name, constructor] of Object.entries(classes)) {
    setName(constructor, name)
    Object.defineProperty(constructor.prototype, Symbol.toStringTag, { value: name, configurable: true })
    Object.defineProperty(constructor.prototype, platformObject, { value: true })
  }
}

export const isPlatformObject = (value: object): boolean => platformObject in value

/** Defines constants of a class that scripts cannot change, such as `Event.NONE`. */
export const defineConstants = (target: object, constants: Readonly<Record<string, number>>): void => {
  for (const [name, value] of Object.entries(constants)) {
    Object.defineProperty(target, name, { value, enumerable: true })
  }
}

export const defineValue = (target: object, name: string, value: unknown): void => {
  if (typeof value === "function" && value.name !== name) {
    setName(value, name)
  }
  Object.defineProperty(target, name, { value, writable: true, configurable: true, enumerable: false })
}

/** Defines a global that is created at its first use, so that unused ones cost nothing. */
export const defineLazy = (target: object, name: string, make: () => unknown): void => {
  Object.defineProperty(target, name, {
    configurable: true,
    enumerable: false,
    get: () => {
      const value = make()
      defineValue(target, name, value)
      return value
    },
    set: (value: unknown) => {
      Object.defineProperty(target, name, { value, writable: true, configurable: true, enumerable: true })
    }
  })
}
