export { referenceServer } from "./ReferenceServer.ts"
