/** Durable functions: each file is an example, and has its tests in `test`. */
export { answer } from "./agent.ts"
export { approve } from "./approval.ts"
export { resize } from "./fanOut.ts"
export { fulfil } from "./orderSaga.ts"
export { poll } from "./polling.ts"
export { signOff } from "./signOff.ts"
