/** The global `process`. */
export { process } from "../process.ts"
