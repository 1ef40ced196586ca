/** Results of tools, resources and prompts in the format of the Model Context Protocol. Types only. */

interface Annotated {
  readonly annotations?: {
    readonly audience?: ReadonlyArray<"user" | "assistant">
    /** From 0, optional, to 1, required. */
    readonly priority?: number
    /** ISO 8601. */
    readonly lastModified?: string
  }
}

/** Text, or bytes in base64. */
export type ResourceContents = {
  readonly uri: string
  readonly mimeType?: string
} & ({ readonly text: string } | { readonly blob: string })

export interface ResourceLink extends Annotated {
  readonly type: "resource_link"
  readonly uri: string
  readonly name: string
  readonly title?: string
  readonly description?: string
  readonly mimeType?: string
}

/** A part of a result. `data` is base64. */
export type ToolContent =
  | (Annotated & { readonly type: "text"; readonly text: string })
  | (Annotated & { readonly type: "image" | "audio"; readonly data: string; readonly mimeType: string })
  | (Annotated & { readonly type: "resource"; readonly resource: ResourceContents })
  | ResourceLink

/** A result with content of all types. A tool may return any other value instead, which becomes JSON text. */
export interface ToolResult {
  readonly content: ReadonlyArray<ToolContent>
  readonly structuredContent?: Readonly<Record<string, unknown>>
  /** True if the call failed and the model should know why. */
  readonly isError?: boolean
}

/** The first argument of a resource. */
export interface ResourceRequest {
  readonly uri: string
  /** Values of the variables of the template. */
  readonly params: Readonly<Record<string, string>>
}

/** Text, bytes in base64 as `blob`, several contents, or any other value as JSON. Null: there is no such resource. */
export type ResourceResult =
  | string
  | null
  | { readonly text: string; readonly mimeType?: string }
  | { readonly blob: string; readonly mimeType?: string }
  | { readonly contents: ReadonlyArray<ResourceContents> }

export interface PromptMessage {
  readonly role: "user" | "assistant"
  readonly content: ToolContent
}

/** Text of the user, or messages. */
export type PromptResult =
  | string
  | ReadonlyArray<PromptMessage>
  | { readonly messages: ReadonlyArray<PromptMessage>; readonly description?: string }
