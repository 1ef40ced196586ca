/** The running instance behind each face that a host holds, so that no type of Effect is part of that face. */
import type { WeftInstance } from "./Weft.ts"

const instances = new WeakMap<object, WeftInstance>()

/** Registers another face of an instance, such as the result of `createWeft`. */
export const registerFace = (face: object, instance: WeftInstance): void => void instances.set(face, instance)

/** Returns the instance behind a face. Throws a `TypeError` for any other object. */
export const findInstance = (face: object): WeftInstance => {
  const instance = instances.get(face)
  if (instance !== undefined) return instance
  throw new TypeError("The first argument must be a Weft, as returned by createWeft or start")
}
