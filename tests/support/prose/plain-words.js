// A textlint rule: idioms that a technical editor rewrites, listed with their replacements in idioms.json.
const idioms = require('./idioms.json').map(({pattern, use}) => ({pattern: new RegExp(pattern, 'gm'), use}))

module.exports = context => {
  const {Syntax, RuleError, getSource, locator, report} = context
  return {
    [Syntax.Str](node) {
      const text = getSource(node)
      for (const {pattern, use} of idioms)
        for (const match of text.matchAll(pattern))
          report(node, new RuleError(`“${match[0].trim().slice(0, 60)}”: rather ${use}`, {
            padding: locator.range([match.index, match.index + match[0].length])}))
    },
  }
}
