export { type IsolatedOptions, isolated } from "./Isolated.ts"
