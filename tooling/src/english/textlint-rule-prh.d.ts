/** The package has no declarations of its own. */
declare module "textlint-rule-prh" {
  import type { TextlintFixableRuleModule } from "@textlint/types"

  const prh: { readonly default: TextlintFixableRuleModule }
  export default prh
}
