-- Puts rows where the turns of these jobs would be, unless there are some.
-- Arguments by position: id.
INSERT INTO windlass_turns (id, queue, `rank`, place) VALUES /*each*/(?, '', 0, 0)/*each*/
ON DUPLICATE KEY UPDATE id = windlass_turns.id
