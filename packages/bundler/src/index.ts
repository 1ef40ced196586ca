/** Bundles projects of functions. */
export type { BuildFailure, Message } from "esbuild"
export { type Bundled, type BundleSettings, openBundler, type ProjectBundler } from "./Bundler.ts"
export { nodeModuleNames } from "./NodeModules.ts"
