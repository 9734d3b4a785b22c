"""Blocks that remember every token in them: the slow simulator's memory where prompts are shared.

Each block knows what it holds and who holds it; what a request finds in the cache is looked up
token by token, and whoever writes into a block that others hold copies it first.
"""

import math

from slow_memory import Blocks


class SharedBlocks(Blocks):
    """Full blocks are found by what is in them. The one left longest ago is taken first."""

    def __init__(self, count, size, requests, keep):
        super().__init__(count, size)
        self.free.reverse()
        self.keep = keep
        self.samples, self.shared = requests.samples, requests.shared_tokens
        self.holders = [0] * count
        self.content = [[] for _ in range(count)]
        self.known = {}  # tokens of a full block -> its number
        self.on_host = {}

    def token(self, request, position):
        """What stands at a position: equal tokens are the same in every request."""
        if position < self.shared:
            return "system", position
        if position < request.prompt:
            return "prompt", request.number // self.samples, position
        return "output", request.number, position

    def tokens(self, request, index, end):
        """The tokens of one of its blocks, when so many of all its tokens are cached."""
        start = index * self.size
        return [self.token(request, p) for p in range(start, min(start + self.size, end))]

    def plan(self, group, tokens):
        """For each member: the blocks it would find, then None for each that it would have to take.

        Members that have produced nothing yet have all blocks in common with the first.
        """
        tables = []
        for member in group:
            table = []
            for index in range(math.ceil(tokens / self.size)):
                inside = tables and index < member.prompt // self.size
                if inside or (tables and tokens == member.prompt):
                    table.append((0, index))  # the first member's, whatever that is
                elif None in table or (index + 1) * self.size > tokens - 1:
                    table.append(None)  # the last token is always computed
                else:
                    table.append(self.known.get(tuple(self.tokens(member, index, tokens))))
            tables.append(table)
        return tables

    def admits(self, group, tokens, kept_free):
        """Whether it fits."""
        plan = self.plan(group, tokens)
        taken = sum(block is None for table in plan for block in table)
        found = {b for table in plan for b in table if isinstance(b, int)}
        return len(self.free) - taken - len(found & set(self.free)) >= kept_free

    def ready(self, group, tokens):
        """Of each member's tokens, those that need not be computed."""
        counts = []
        for member, table in zip(group, self.plan(group, tokens), strict=True):
            found = (table.index(None) if None in table else len(table)) * self.size
            counts.append(found if member is group[0] else min(max(member.prompt, found), tokens))
        return counts

    def fetched(self, group, tokens):
        """Tokens and blocks that have to come from the host."""
        content, blocks = self.on_host.pop(group[0].number // self.samples)
        found = {b for table in self.plan(group, tokens) for b in table if isinstance(b, int)}
        return content - len(found) * self.size, blocks - len(found)

    def admit(self, group, tokens):
        """Give each member its blocks."""
        plan = self.plan(group, tokens)
        for table in plan:  # what is found must not be given up for what is not
            for block in table:
                if isinstance(block, int) and block in self.free:
                    self.free.remove(block)
        for member, table in zip(group, plan, strict=True):
            for index, block in enumerate(table):
                if isinstance(block, tuple):
                    block = group[0].blocks[index]
                elif block is None:
                    block = self.new_block()
                    self.write(block, self.tokens(member, index, tokens))
                self.holders[block] += 1
                member.blocks.append(block)

    def needed_to_write(self, group):
        """Blocks that it takes for each member to write a token: new ones, and copies of a block
        for all who hold it but the last.
        """
        index = group[0].cached // self.size
        new = sum(index == len(member.blocks) for member in group)
        written = {member.blocks[index] for member in group if index < len(member.blocks)}
        return new + sum(self.holders[block] - 1 for block in written)

    def write_next(self, request):
        """Write the next token."""
        index = request.cached // self.size
        token = self.token(request, request.cached)
        if index == len(request.blocks):
            request.blocks.append(self.new_block())
            self.holders[request.blocks[index]] = 1
        elif self.holders[request.blocks[index]] > 1:
            old = request.blocks[index]
            self.holders[old] -= 1
            request.blocks[index] = new = self.new_block()
            self.holders[new] = 1
            self.content[new] = list(self.content[old])
        block = request.blocks[index]
        assert self.holders[block] == 1, "what is shared is never written"
        self.write(block, [*self.content[block], token])

    def new_block(self):
        block = self.free.pop(0)
        assert self.holders[block] == 0
        self.forget(block)
        return block

    def write(self, block, tokens):
        self.content[block] = tokens
        if len(tokens) == self.size:
            assert self.known.setdefault(tuple(tokens), block) == block, "twice in the cache"

    def forget(self, block):
        if self.known.get(tuple(self.content[block])) == block:
            del self.known[tuple(self.content[block])]
        self.content[block] = []

    def give_back_group(self, group, swaps):
        """Take back the blocks of all members, of the last one first."""
        blocks = {block for member in group for block in member.blocks}
        content = sum(len(self.content[block]) for block in blocks)
        self.on_host[group[0].number // self.samples] = content, len(blocks)
        for member in reversed(group):
            self.give_back(member)
        return (content, len(blocks)) if swaps else (0, 0)

    def give_back(self, request):
        for block in reversed(request.blocks):
            self.holders[block] -= 1
            if self.holders[block] == 0:
                self.free.append(block)
                if not self.keep:
                    self.forget(block)
        request.tables.append(request.blocks)
        request.blocks = []

    def check(self, running):
        """Counts are those of the tables, and everybody reads exactly its own tokens."""
        held = [block for request in running for block in request.blocks]
        assert self.holders == [held.count(block) for block in range(len(self.owner))]
        assert len(set(held)) + len(self.free) == len(self.owner)
        assert not set(held) & set(self.free)
        for request in running:
            read = [token for block in request.blocks for token in self.content[block]]
            assert read == [self.token(request, p) for p in range(request.cached)]
